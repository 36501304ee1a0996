"""A network that stops in its second task for as long as a file named by HELD is there: a test can meet a run in the middle."""

import math
import os
import time
from pathlib import Path

from torch import nn

BATCHES_A_TASK, BATCH = 6, 10
batches = 0


class Held(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.layer = nn.Linear(inputs, classes)

    def forward(self, x):
        global batches
        batches += self.training and len(x) == BATCH
        while batches > BATCHES_A_TASK and Path(os.environ["HELD"]).exists():
            time.sleep(0.05)
        return self.layer(x.flatten(1))


def factory(input_shape, classes):
    return Held(math.prod(input_shape), classes)
