"""The stream on which the battery tries learners: three tasks of two clouds each, well apart, and one call after the other."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.protocol import StreamInfo, TaskInfo

STREAM = StreamInfo("battery", input_shape=(2, 3), classes=7, tasks=3)
"""Six classes come, two a task; the head has one more, which never does."""
TASKS = [TaskInfo(index, (2 * index, 2 * index + 1)) for index in range(STREAM.tasks)]
EXAMPLES, BATCH = 40, 8
STEPS = 2 + EXAMPLES // BATCH
"""Calls of a learner a task: it begins, takes its batches, ends."""

Step = Callable[[Learner[Any]], object]


def examples(task: TaskInfo) -> tuple[Tensor, Tensor]:
    """The examples of a task, x [40, 2, 3] and y [40]."""
    generator = torch.Generator().manual_seed(task.index)
    y = torch.tensor(task.classes).repeat(EXAMPLES // len(task.classes))
    draws = torch.Generator().manual_seed(99)
    centres = [2 * torch.randn(count, *STREAM.input_shape, generator=draws) for count in (STREAM.classes, 2)]
    return torch.cat(centres)[y] + 0.3 * torch.randn(EXAMPLES, *STREAM.input_shape, generator=generator), y


def everything() -> tuple[Tensor, Tensor]:
    """The examples of all tasks."""
    pairs = [examples(task) for task in TASKS]
    return torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])


def steps() -> Iterator[Step]:
    """The whole stream, one call of a learner after the other."""

    def observe(x: Tensor, y: Tensor) -> Step:
        return lambda learner: learner.observe(x, y)

    def begin(task: TaskInfo) -> Step:
        return lambda learner: learner.begin(task)

    for task in TASKS:
        x, y = examples(task)
        yield begin(task)
        for start in range(0, EXAMPLES, BATCH):
            yield observe(x[start : start + BATCH], y[start : start + BATCH])
        yield lambda learner: learner.end()


def learn(learner: Learner[Any], task: TaskInfo) -> None:
    """Teach one task."""
    for step in list(steps())[STEPS * task.index : STEPS * (task.index + 1)]:
        step(learner)


def learned(learner: Learner[Any]) -> Learner[Any]:
    """The learner, taught all tasks."""
    for step in steps():
        step(learner)
    return learner
