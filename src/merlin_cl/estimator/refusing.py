"""Answers that one may refuse: sets of labels with a promised coverage, and inputs that are of no class seen so far."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.estimator.calibration import HeldExamples, quantile
from merlin_cl.estimator.inputs import Array
from merlin_cl.estimator.snapshots import Snapshot
from merlin_cl.learners.uncertainty import entropy
from merlin_cl.protocol import Inference
from merlin_cl.tensors import as_float

BLOCK = 1_000
"""Inputs that are compared with held-back examples at once."""


class Refusing:
    """The part of an estimator that says how far its answers go; it rests on examples that were held back."""

    calibration: int
    inference: Inference | None
    _calibration: HeldExamples
    _answers_to_held: dict[tuple[int, ...], Tensor]

    def predict_set(self, X: Any, coverage: float = 0.9, task: str | int | None = None) -> Array:
        """Which labels each input may have, bool [N, classes] in the order of `classes_`: the true one is among them with the
        probability `coverage`, over inputs of the classes seen so far in the proportions in which they came.

        A set may have no label, where none is probable enough: that happens when the model is right more often than is asked.
        With fewer than 1 / (1 - coverage) - 1 examples held back so far, all labels seen are in it.
        """
        if not is_number(coverage) or not 0 < coverage < 1:
            raise UsageError(f"coverage is {coverage!r}; give a number between 0 and 1, such as 0.9.")
        with self._answering() as snapshot:
            model, visits = snapshot.model, snapshot.model._visits(task)
            held = _required(model)
            x = model._asked(X)
            self._make_ready(snapshot, *visits)
            chosen = held.of_tasks(visits)
            to_held = _doubt(self._held_answers(model, visits)[chosen])
            scores = to_held.gather(1, held.y[chosen].unsqueeze(1)).squeeze(1)  # [n]
            largest = quantile(scores, held.weights()[chosen], float(coverage))
            probabilities = model._answers(x, visits, self.inference).cpu()
            possible = torch.zeros(probabilities.shape[1], dtype=torch.bool)
            for number in visits or range(len(model.learner_.tasks)):
                possible[list(model.learner_.tasks[number].classes)] = True
            return np.asarray(((_doubt(probabilities) <= largest) & possible).numpy()[:, model._labels.order])

    def novelty(self, X: Any) -> Array:
        """How strange each input is to the classes seen so far, [N] from 0 to 1: the share of examples of these classes that are
        less strange. Above 0.95 it belongs to them with a probability of at most 0.05.

        Strange is what is answered with a high entropy and lies far from every example that was held back.
        """
        with self._answering() as snapshot:
            model = snapshot.model
            held = _required(model)
            x = model._asked(X)
            self._make_ready(snapshot, None)
            if len(held) < 2:
                return np.zeros(len(x))
            probabilities = model.learner_.probabilities(x, inference=self.inference).cpu()
            known = _flat(held.x)
            to_held = entropy(self._held_answers(model, ()))
            strangeness = Strangeness(to_held, _nearest(known, known, itself=True), held.weights())
            return np.asarray(strangeness.shares(entropy(probabilities), _nearest(_flat(x.cpu()), known)).numpy())

    def _held_answers(self, model: Any, visits: tuple[int, ...]) -> Tensor:
        """The probabilities [n, outputs] of held-back examples, computed once until more is learned."""
        answers: Tensor | None = model._answers_to_held.get(visits)
        if answers is None:
            answers = model._answers(model._calibration.x, visits, self.inference).cpu()
            model._answers_to_held[visits] = answers
        return answers

    def _answering(self) -> AbstractContextManager[Snapshot]:
        raise NotImplementedError

    def _make_ready(self, snapshot: Snapshot, *visits: int | None) -> None:
        raise NotImplementedError


class Strangeness:
    """How strange inputs are: entropy and distance, each in units of its spread over held-back examples, added up."""

    def __init__(self, entropies: Tensor, distances: Tensor, weights: Tensor) -> None:
        """Of held-back examples, float64 [n] each; `weights` say what each counts for."""
        self._scales = [(float(values.mean()), float(values.std()) + 1e-9) for values in (entropies, distances)]
        order = (held := self._of(entropies, distances)).argsort()
        self._held, self._below = (
            held[order],
            torch.cat([torch.zeros(1, dtype=torch.float64), weights[order].cumsum(0)]),
        )
        self._whole = float(weights.sum() + weights.mean())

    def _of(self, *parts: Tensor) -> Tensor:
        return torch.stack(
            [(part - mean) / spread for part, (mean, spread) in zip(parts, self._scales, strict=True)]
        ).sum(0)

    def shares(self, entropies: Tensor, distances: Tensor) -> Tensor:
        """The share of held-back examples that are less strange, [N]; beyond all of them, closer to 1 the stranger."""
        values = self._of(entropies, distances)
        shares = self._below[torch.searchsorted(self._held, values)] / self._whole
        beyond = (values - self._held[-1]).clamp(min=0)
        return shares + (1 - shares) * beyond / (1 + beyond)


def refused(labels: Array, confidences: Array, reject: Any) -> Array:
    """Labels, with None in place of those that are less probable than `reject`."""
    if not is_number(reject) or not 0 <= reject <= 1:
        raise UsageError(f"reject is {reject!r}; give a probability from 0 to 1 that an answer must have.")
    given = labels.astype(object)
    given[confidences < reject] = None
    return given


def is_number(value: Any) -> bool:
    """Whether a value is a number, and neither true nor false."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _required(model: Any) -> HeldExamples:
    """The examples that were held back, if any were to be."""
    if not model._calibration.size:
        raise UsageError(
            "Nothing was held back to calibrate with; make the estimator with calibration=500, or another number of examples."
        )
    held: HeldExamples = model._calibration
    return held


def _doubt(probabilities: Tensor) -> Tensor:
    """The probability that a label is wrong, of each [N, outputs], exact where it is so small that 1 minus it is 1."""
    best = probabilities.argmax(dim=1, keepdim=True)
    return (1 - probabilities).scatter(1, best, probabilities.scatter(1, best, 0).sum(dim=1, keepdim=True))


def _flat(x: Tensor) -> Tensor:
    return as_float(x).flatten(1).double()


def _nearest(x: Tensor, known: Tensor, itself: bool = False) -> Tensor:
    """The distance of each of x [N, F] to the nearest of known [n, F]; `itself`: these are the same, and none is its own."""
    parts = []
    for start in range(0, len(x), BLOCK):
        distances = torch.cdist(x[start : start + BLOCK], known)
        if itself:
            places = torch.arange(start, start + len(distances))
            distances[torch.arange(len(distances)), places] = torch.inf
        parts.append(distances.amin(dim=1))
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)
