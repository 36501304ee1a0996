"""What t is: the vector of a task that the prior is a function of, given by the stream or computed from exemplars.

A prior that is linear in one-hot vectors, as the paper's, is a prior a task. With vectors that say what a task is about, the same
linear map also gives a prior for a task that was never learned.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.merlin.settings import Descriptor
from merlin_cl.learners.merlin.task2vec import task2vec
from merlin_cl.protocol import TaskInfo
from merlin_cl.tensors import as_float


def check_descriptor(task: TaskInfo, earlier: Sequence[TaskInfo], descriptor: Descriptor) -> None:
    """Refuse a task that is not described as the settings or earlier tasks have it."""
    problem, given = "", task.descriptor
    if descriptor == "words" and given is None:
        problem = "is missing, which descriptor words needs; describe the stream first (`describe_by_words`)"
    elif descriptor != "task2vec" and earlier and _width(given) != _width(earlier[0].descriptor):
        problem = "is not as wide as that of task 0; give all the same width"
    elif given is not None and not 0 < sum(number * number for number in given) < float("inf"):
        problem = "is zero or not finite; give numbers that say something"
    if problem:
        raise InputError(f"The descriptor of task {task.index} {problem}.")


def embedded(task: TaskInfo, memory: ExemplarMemory) -> TaskInfo:
    """The task with the embedding of its exemplars as descriptor: all that has arrived of it and been kept."""
    x, y = memory.of_task(task.index)
    if len(y) == 0:
        raise InputError(f"No exemplar of task {task.index} was kept, so it has no task2vec; allow more exemplars.")
    return replace(task, descriptor=tuple(task2vec(as_float(x), y).tolist()))


def described(learned: Sequence[TaskInfo], descriptor: Sequence[float]) -> tuple[Tensor, Tensor]:
    """The descriptors of all tasks learned, [T, width], and that of an unseen one, checked, [width]."""
    if not learned:
        raise UsageError("No task has been learned yet; end() the first one before asking for an unseen one.")
    if learned[0].descriptor is None:
        raise UsageError("One-hot vectors say nothing of a task not seen yet; use descriptor words or task2vec.")
    known = torch.tensor([task.descriptor for task in learned])
    wanted = torch.tensor(descriptor, dtype=known.dtype)
    if wanted.shape != known[0].shape or not torch.isfinite(wanted).all():
        raise InputError(
            f"The descriptor of an unseen task must be {known.shape[1]} finite numbers, as those of others."
        )
    return known, wanted


def _width(descriptor: Sequence[float] | None) -> int:
    return 0 if descriptor is None else len(descriptor)
