"""A stream of two tasks small enough to work out by hand."""

import pytest
import torch

from merlin_cl.protocol import StreamInfo, TaskInfo

STREAM = StreamInfo("tiny", input_shape=(3,), classes=4, tasks=2)
TASKS = (TaskInfo(0, (0, 1)), TaskInfo(1, (2, 3)))


class Tiny:
    """The stream, its tasks, and batches of them."""

    stream = STREAM
    tasks = TASKS

    def __init__(self):
        self._generator = torch.Generator().manual_seed(0)

    def batch(self, task, size=5):
        y = torch.tensor(TASKS[task].classes)[torch.randint(0, 2, (size,), generator=self._generator)]
        return torch.randn(size, 3, generator=self._generator) + y.unsqueeze(1), y

    def learn(self, learner, *tasks, batches=6, end=True):
        """Let the learner have some tasks, all by default; the last one may be left open."""
        tasks = tasks or (0, 1)
        for task in tasks:
            learner.begin(TASKS[task])
            for _ in range(batches):
                learner.observe(*self.batch(task))
            if end or task != tasks[-1]:
                learner.end()
        return learner


@pytest.fixture
def tiny():
    return Tiny()
