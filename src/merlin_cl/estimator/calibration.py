"""Examples that are held back: they are not learned, so that they say what answers to new ones are worth.

One in ten of the examples that arrive is a candidate, before it is learned, and as many are kept as there is room for: the same
number of each class of each task, drawn at random. What a model answers to them today is exchangeable with what it answers to new
examples of the same classes, whatever it has learned and forgotten since, which is all that split conformal prediction asks for
(Vovk et al., 2005). A class that came more often than another counts for more, in proportion.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

EVERY = 10
"""One example in so many is held back, while there is room or others can make way for it."""
FIRST = 5
"""Examples of a class of a task that are learned before any is held back."""


@dataclass(frozen=True)
class HeldExamples:
    """Held-back examples; what changes it makes another one, so that threads may go on with the one they have."""

    size: int
    """How many are kept in all."""
    x: Tensor
    """[n, *input_shape], bytes or floats as they arrived."""
    y: Tensor
    """int64 [n], outputs of the head."""
    tasks: Tensor
    """int64 [n]"""
    order: Tensor
    """float64 [n]: drawn for each; within a class of a task those with the highest go first."""
    seen: tuple[tuple[int, int, int], ...] = ()
    """Task, output and number of all examples that have passed."""

    @classmethod
    def empty(cls, size: int, blank: Tensor) -> Self:
        """Nothing yet, of inputs like `blank` [1, *input_shape]."""
        whole = torch.zeros(0, dtype=torch.int64)
        return cls(size, blank[:0], whole, whole, torch.zeros(0, dtype=torch.float64))

    def __len__(self) -> int:
        return len(self.y)

    def passed(self, x: Tensor, y: Tensor, task: int, seed: int) -> tuple[Self, Tensor]:
        """With examples x [N, *input_shape], y int64 [N] of a task, and which of them are to be learned, bool [N]."""
        if not self.size:
            return self, torch.ones(len(y), dtype=torch.bool)
        before = sum(count for *_, count in self.seen)
        numbers = torch.arange(before, before + len(y))
        held = numbers % EVERY == EVERY - 1
        counts = {(at, label): count for at, label, count in self.seen}
        for at, label in enumerate(y.tolist()):
            counts[task, label] = counts.get((task, label), 0) + 1
            held[at] &= counts[task, label] > FIRST
        more = replace(self, seen=tuple((*group, count) for group, count in counts.items()))
        if held.any():
            drawn = torch.tensor([_draw(seed, number) for number in numbers[held].tolist()], dtype=torch.float64)
            more = replace(
                more,
                x=torch.cat([self.x, x[held].cpu()]),
                y=torch.cat([self.y, y[held].cpu()]),
                tasks=torch.cat([self.tasks, torch.full((len(drawn),), task)]),
                order=torch.cat([self.order, drawn]),
            )._within_size()
        return more, ~held

    def _within_size(self) -> Self:
        """Without those that are too many: of the largest groups, the ones that were drawn to go first."""
        groups: dict[tuple[int, int], list[int]] = {}
        for place in self.order.argsort().tolist():
            groups.setdefault((int(self.tasks[place]), int(self.y[place])), []).append(place)
        for _ in range(len(self) - self.size):
            max(groups.values(), key=len).pop()
        places = torch.tensor(sorted(place for group in groups.values() for place in group), dtype=torch.int64)
        return replace(self, x=self.x[places], y=self.y[places], tasks=self.tasks[places], order=self.order[places])

    def of_tasks(self, tasks: tuple[int, ...]) -> Tensor:
        """Which examples are of some tasks, or, without any, of all, bool [n]."""
        return torch.isin(self.tasks, torch.tensor(tasks)) if tasks else torch.ones(len(self), dtype=torch.bool)

    def weights(self) -> Tensor:
        """What each example counts for, float64 [n]: the share of its class in its task among all that have passed."""
        counts = {(task, label): count for task, label, count in self.seen}
        groups = list(zip(self.tasks.tolist(), self.y.tolist(), strict=True))
        held = {group: groups.count(group) for group in set(groups)}
        return torch.tensor([counts[group] / held[group] for group in groups], dtype=torch.float64)

    def state(self) -> dict[str, Any]:
        """Everything but the size."""
        return {
            "x": self.x.clone(),
            "y": self.y.tolist(),
            "tasks": self.tasks.tolist(),
            "order": self.order.clone(),
            "seen": [list(row) for row in self.seen],
        }

    def restored(self, state: dict[str, Any], outputs: int, tasks: int) -> Self:
        """From what `state` gave, for a learner with so many outputs and tasks; ValueError where it cannot have given that."""
        x, order, count = state["x"], state["order"], len(state["y"])
        groups = {(task, label) for task, label, _ in state["seen"]}
        held = list(zip(state["tasks"], state["y"], strict=True))
        whole = [number for row in (*state["seen"], *held) for number in row]
        if not (
            set(state) == {"x", "y", "tasks", "order", "seen"}
            and all(type(number) is int and number >= 0 for number in whole)
            and all(number >= 1 for *_, number in state["seen"])
            and all(task < tasks and label < outputs for task, label in groups)
            and set(held) <= groups
            and len(groups) == len(state["seen"])
            and x.shape == (count, *self.x.shape[1:])
            and x.dtype == self.x.dtype
            and order.shape == (count,)
            and order.dtype == torch.float64
            and count <= self.size
        ):
            raise ValueError("its examples for calibration are not those that were saved")
        y, of_tasks = (torch.tensor(state[name], dtype=torch.int64) for name in ("y", "tasks"))
        return replace(
            self, x=x.clone(), y=y, tasks=of_tasks, order=order.clone(), seen=tuple(map(tuple, state["seen"]))
        )


def quantile(scores: Tensor, weights: Tensor, coverage: float) -> float:
    """The score, infinite where there are too few, that a new example's is at most with the probability `coverage`.

    `scores`, float64 [n], are those of examples like it, each of which counts for its weight, and the new one for their mean.

    >>> quantile(torch.arange(9.0), torch.ones(9), 0.9), quantile(torch.arange(19.0), torch.ones(19), 0.9)
    (8.0, 17.0)
    >>> quantile(torch.arange(8.0), torch.ones(8), 0.9)
    inf
    """
    if not len(scores):
        return float("inf")
    order = scores.argsort()
    shares = weights[order].cumsum(0) / (weights.sum() + weights.mean())
    reached = (shares >= coverage - 1e-9).nonzero()
    return float(scores[order][reached[0]]) if len(reached) else float("inf")


def _draw(seed: int, number: int) -> float:
    """A number from 0 to 1 that stands for an example, by its place in the stream alone."""
    digest = hashlib.sha256(f"{seed}/calibration/{number}".encode()).digest()
    return int.from_bytes(digest[:6], "little") / 2**48
