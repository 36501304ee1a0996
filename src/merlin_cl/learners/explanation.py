"""Why an input is answered as it is: how sure, what else it could be, which task speaks, and what kept examples are like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.protocol import Inference
from merlin_cl.tensors import as_float

NEAREST = 3
"""Exemplars that are named unless told otherwise."""


@dataclass(frozen=True)
class Neighbour:
    """An exemplar that is like an input."""

    place: int
    """Where the memory has it."""
    label: int
    task: int
    distance: float
    """Root mean square difference of the numbers of both; bytes are from 0 to 1."""


@dataclass(frozen=True)
class Explanation:
    """What an answer rests on; classes are outputs, tasks their indices."""

    label: int
    probability: float
    second: int | None
    """The next best class, None where there is no other."""
    second_probability: float
    task: int | None
    """The task that is known, or the last that brought the class; None where none did."""
    task_shares: tuple[float, ...] | None
    """How likely each task is, where none is known and the method weighs its tasks."""
    nearest: tuple[Neighbour, ...]
    """The exemplars most like the input; none for a method that keeps none."""


def explanations(
    learner: Learner[Any],
    x: Tensor,
    task: int | None = None,
    *,
    inference: Inference | None = None,
    nearest: int = NEAREST,
) -> list[Explanation]:
    """One for each of x [N, *input_shape]; `task` says which task they come from, if that is known."""
    if nearest < 0:
        raise UsageError(f"nearest is {nearest}; give a number of exemplars from 0 on.")
    probabilities = learner.probabilities(x, task, inference=inference).cpu()  # [N, classes]
    allowed = learner.seen if task is None else sorted(learner.tasks[task].classes)
    best = probabilities[:, allowed].topk(min(2, len(allowed)), dim=1)
    shares = None if task is not None else learner.task_shares(x, inference=inference)
    neighbours = _nearest(learner, x, nearest)
    answers = []
    for at, (places, values) in enumerate(zip(best.indices.tolist(), best.values.tolist(), strict=True)):
        labels, other = [allowed[place] for place in places], len(values) > 1
        answers.append(
            Explanation(
                labels[0],
                values[0],
                labels[1] if other else None,
                values[1] if other else 0.0,
                _bringer(learner, labels[0]) if task is None else task,
                None if shares is None else tuple(shares[at].tolist()),
                neighbours[at],
            )
        )
    return answers


def _bringer(learner: Learner[Any], label: int) -> int | None:
    """The last task that brought a class."""
    return next((task.index for task in reversed(learner.tasks) if label in task.classes), None)


def _nearest(learner: Learner[Any], x: Tensor, count: int) -> list[tuple[Neighbour, ...]]:
    memory = getattr(learner, "memory", None)
    if not isinstance(memory, ExemplarMemory) or not len(memory) or not count:
        return [()] * len(x)
    kept = as_float(memory.x).flatten(1).double().cpu()
    labels, tasks = memory.y.tolist(), memory.tasks.tolist()
    distances = torch.cdist(as_float(x).flatten(1).double().cpu(), kept) / kept.shape[1] ** 0.5  # [N, n]
    close = distances.topk(min(count, len(memory)), dim=1, largest=False)
    return [
        tuple(
            Neighbour(place, labels[place], tasks[place], distance)
            for place, distance in zip(places, values, strict=True)
        )
        for places, values in zip(close.indices.tolist(), close.values.tolist(), strict=True)
    ]
