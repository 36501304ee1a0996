"""One task of a run, learned: the same loop for runs in folders, runs in memory and searches."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.protocol import TaskInfo
from merlin_cl.tensors import bytes_of


def learn_task(
    learner: Learner[Any], task: TaskInfo, batches: Iterable[tuple[Tensor, Tensor]], total: int, seed: int
) -> int:
    """Teach a learner a task, each of its `total` batches once; how many bytes it held when the last one had come.

    These are all tensors of its state, what it keeps between tasks and what it has only while it learns one: models, an
    optimiser's moments, running means. What a seed makes again and what lasts no longer than a batch does not count.
    Learners draw from generators of their own; one that draws from torch's own is the same after a resume, too.
    """
    torch.manual_seed(1_000_003 * seed + task.index)
    learner.begin(task)
    for x, y in learner.phases.steps("learn", batches, total):
        learner.observe(x, y)
    held = bytes_of(learner.state())
    learner.end()
    return held
