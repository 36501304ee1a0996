"""A network that stops in its second task for as long as a file is there, `held` in the current folder or what HELD names: a
test can meet a run in the middle. One update a batch is expected. The process whose number is in the file does not wait."""

import math
import os
import time
from pathlib import Path

from torch import nn

BATCHES_A_TASK, BATCH = 6, 10
batches = 0


def held():
    try:
        return Path(os.environ.get("HELD", "held")).read_text() != str(os.getpid())
    except FileNotFoundError:
        return False


class Held(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.layer = nn.Linear(inputs, classes)

    def forward(self, x):
        global batches
        batches += self.training and len(x) == BATCH
        while batches > BATCHES_A_TASK and held():
            time.sleep(0.05)
        return self.layer(x.flatten(1))


def factory(input_shape, classes):
    return Held(math.prod(input_shape), classes)
