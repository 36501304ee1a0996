"""Do inputs of a class look as they did? A witness to changes that a classifier hardly notices, as it learns along.

Every input is seen through a few random projections. For every class the mean of the last examples is compared with the mean of
those of the task before them, in units of the spread within classes (Hotelling 1931). If nothing has changed, the sum over
classes follows a chi-squared distribution; it is given in standard deviations above what it is then.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.tensors import State

PROJECTIONS = 24
"""Numbers that an input is seen as; an input of fewer numbers is seen as it is."""
WINDOWS = (60, 120, 190)
"""The last examples that are compared with those before them: few tell a great change soon, many a small one at all."""
SETTLING = 200
"""Examples of a task that the last ones are compared with, at least."""
FEWEST = 10
"""Examples of a class among them, at least."""
PRIOR = 10
"""How many examples a class is taken to have had with the spread that all classes have on average."""
RIDGE = 1e-6

Array = np.ndarray[Any, Any]


class ShiftWitness:
    """Compares the last examples of a task with those before them."""

    def __init__(self, input_shape: tuple[int, ...]) -> None:
        numbers = math.prod(input_shape)
        self._width = min(PROJECTIONS, numbers)
        draws = np.random.default_rng(0).normal(size=(numbers, self._width)) / math.sqrt(numbers)
        self._projection = np.eye(numbers) if numbers <= PROJECTIONS else draws
        self.begin_task()

    def begin_task(self) -> None:
        """What comes now is compared with what comes after this."""
        self._recent, self._labels = np.zeros((0, self._width)), np.zeros(0, dtype=np.int64)
        self._counts: dict[int, int] = {}
        self._means: dict[int, Array] = {}
        self._scatters: dict[int, Array] = {}  # of each class around its mean, [k, k]

    def surprise(self, x: Tensor, y: Tensor) -> float:
        """How far the last examples, of which x float [N, *input_shape], y [N] are the newest, lie from those before them: in
        standard deviations, the largest over the windows; minus infinity before there is enough to compare."""
        seen = x.flatten(1).double().numpy() @ self._projection
        self._recent = np.concatenate([self._recent, seen])
        self._labels = np.concatenate([self._labels, y.numpy()])
        while len(self._labels) > WINDOWS[-1]:
            self._settle(self._recent[0], int(self._labels[0]))
            self._recent, self._labels = self._recent[1:], self._labels[1:]
        settled = sum(self._counts.values())
        if settled < SETTLING:
            return -math.inf
        freedom = settled - len(self._counts)
        pooled = sum(self._scatters.values(), np.zeros((self._width, self._width))) / freedom
        pooled += RIDGE * (np.trace(pooled) / self._width + 1e-12) * np.eye(self._width)
        whitening = np.linalg.inv(np.linalg.cholesky(pooled))
        return max(self._distance(window, whitening, freedom) for window in WINDOWS)

    def _settle(self, seen: Array, label: int) -> None:
        """One more example that others are compared with (Welford 1962)."""
        count = self._counts.get(label, 0) + 1
        mean = self._means.get(label, np.zeros(self._width))
        step = seen - mean
        mean = mean + step / count
        self._counts[label], self._means[label] = count, mean
        before = self._scatters.get(label, np.zeros((self._width, self._width)))
        self._scatters[label] = before + np.outer(step, seen - mean)

    def _distance(self, window: int, whitening: Array, freedom: int) -> float:
        """Of the last examples, so many, in standard deviations of what chance would give."""
        recent, labels = self._recent[-window:], self._labels[-window:]
        total, degrees = 0.0, 0
        for label in np.unique(labels):
            count = self._counts.get(int(label), 0)
            if count < FEWEST:
                continue
            some = recent[labels == label]
            step = whitening @ (some.mean(axis=0) - self._means[int(label)])
            spread = np.trace(whitening @ self._scatters[int(label)] @ whitening.T) / self._width
            own = (spread + PRIOR) / (count - 1 + PRIOR)  # the class's spread, where 1 is that of all
            total += float(step @ step) / (1 / len(some) + 1 / count) / own
            degrees += self._width
        if not degrees:
            return -math.inf
        unbiased = total * (freedom - self._width - 1) / freedom
        return (unbiased - degrees) / math.sqrt(2 * degrees)

    def state(self) -> State:
        """Everything."""
        return {
            "recent": torch.from_numpy(self._recent.copy()),
            "labels": self._labels.tolist(),
            "classes": {
                str(label): {
                    "count": count,
                    "mean": torch.from_numpy(self._means[label].copy()),
                    "scatter": torch.from_numpy(self._scatters[label].copy()),
                }
                for label, count in self._counts.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave; ValueError where it cannot have given that."""
        recent, labels, classes = state["recent"], state["labels"], state["classes"]
        good = (
            _is_like(recent, (len(labels), self._width))
            and len(labels) <= WINDOWS[-1]
            and all(type(label) is int and label >= 0 for label in labels)
            and all(name.isdecimal() for name in classes)
            and all(
                type(one["count"]) is int
                and one["count"] >= 1
                and _is_like(one["mean"], (self._width,))
                and _is_like(one["scatter"], (self._width, self._width))
                for one in classes.values()
            )
        )
        if not good:
            raise ValueError("its witness to shifts is not one that was saved")
        self._recent, self._labels = recent.numpy().copy(), np.array(labels, dtype=np.int64)
        self._counts = {int(name): one["count"] for name, one in classes.items()}
        self._means = {int(name): one["mean"].numpy().copy() for name, one in classes.items()}
        self._scatters = {int(name): one["scatter"].numpy().copy() for name, one in classes.items()}


def _is_like(value: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.float64 and tuple(value.shape) == shape
