"""Examples that are held back: they are not learned, so that they say what answers to new ones are worth.

One in five of the examples of a class is a candidate, before it is learned, and as many are kept as there is room for: the same
number of each class of each task, drawn at random. A candidate that there is no room for, or that makes way for another while
its task goes on, is learned like any other. Which ones stay is drawn without a look at them, so that what a model answers to them
today is exchangeable with what it answers to new examples of the same classes, whatever it has learned and forgotten since, which
is all that split conformal prediction asks for (Vovk et al., 2005). A class that came more often than another counts for more, in
proportion.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

EVERY = 5
"""One example of a class in so many is held back, while there is room or others can make way for it."""
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

    def passed(self, x: Tensor, y: Tensor, task: int, seed: int) -> tuple[Self, Tensor, Tensor]:
        """With examples x [N, *input_shape], y int64 [N] of a task, and those of the task that are to be learned now, like x and
        y: these but for the ones held back, and earlier ones that made way."""
        if not self.size:
            return self, x, y
        before = sum(count for *_, count in self.seen)
        counts = {(at, label): count for at, label, count in self.seen}
        held = torch.zeros(len(y), dtype=torch.bool)
        for at, label in enumerate(y.tolist()):
            number = counts.get((task, label), 0)
            counts[task, label] = number + 1
            held[at] = _is_candidate(seed, task, label, number)
        more = replace(self, seen=tuple((*group, count) for group, count in counts.items()))
        if not held.any():
            return more, x, y
        numbers = (before + held.nonzero().squeeze(1)).tolist()
        more = replace(
            more,
            x=torch.cat([self.x, x[held].cpu()]),
            y=torch.cat([self.y, y[held].cpu()]),
            tasks=torch.cat([self.tasks, torch.full((len(numbers),), task)]),
            order=torch.cat(
                [self.order, torch.tensor([_draw(seed, number) for number in numbers], dtype=torch.float64)]
            ),
        )
        stay = more._within_size()
        released = ~stay & (more.tasks == task)
        to_learn = [torch.cat([new[~held], old[released].to(new)]) for new, old in ((x, more.x), (y, more.y))]
        return more._only(stay), to_learn[0], to_learn[1]

    def _within_size(self) -> Tensor:
        """Which examples stay, bool [n]: not those that are too many, of the largest groups the ones drawn to go first."""
        groups: dict[tuple[int, int], list[int]] = {}
        tasks, labels = self.tasks.tolist(), self.y.tolist()
        for place in self.order.argsort().tolist():
            groups.setdefault((tasks[place], labels[place]), []).append(place)
        stay = torch.ones(len(self), dtype=torch.bool)
        for _ in range(len(self) - self.size):
            stay[max(groups.values(), key=len).pop()] = False
        return stay

    def _only(self, chosen: Tensor) -> Self:
        """These examples alone, bool [n]."""
        return replace(self, x=self.x[chosen], y=self.y[chosen], tasks=self.tasks[chosen], order=self.order[chosen])

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


def _is_candidate(seed: int, task: int, label: int, number: int) -> bool:
    """Whether to hold back the example of a class of a task that so many came before: one of every five, drawn at random, so that
    no rhythm in which examples arrive keeps a class away."""
    block, place = divmod(number - FIRST, EVERY)
    return block >= 0 and place == int(EVERY * _draw(seed, f"{task}/{label}/{block}"))


def _draw(seed: int, name: int | str) -> float:
    """A number from 0 to 1, without 1, that stands for an example or a block of them, by its place in the stream alone."""
    digest = hashlib.sha256(f"{seed}/calibration/{name}".encode()).digest()
    return int.from_bytes(digest[:6], "little") / 2**48
