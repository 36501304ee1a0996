"""How far a classifier's probabilities can be trusted, as pure functions of arrays.

Probabilities are [N, classes] with labels [N]. What only asks how sure an answer was takes its confidence [N], the probability
of the class answered, and whether the answer was correct, bool [N]. Examples of equal confidence count alike, so no measure
depends on the order of the examples.

>>> probabilities, labels = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [0, 1, 1]
>>> round(negative_log_likelihood(probabilities, labels), 4), round(brier_score(probabilities, labels), 4)
(0.4149, 0.2733)
>>> confidence, correct = [0.9, 0.6, 0.8], [True, False, True]
>>> round(expected_calibration_error(confidence, correct, bins=2), 4), round(risk_coverage_area(confidence, correct), 4)
(0.1667, 0.1111)
>>> auroc([0.1, 0.2, 0.3], [0.2, 0.9])
0.75
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merlin_cl.errors import InputError

Floats = NDArray[np.float64]

BINS = 15
LEAST = float(np.finfo(np.float64).eps)
"""What a probability counts as at least in a likelihood: a class that was ruled out costs 36 nats when it is the true one."""


@dataclass(frozen=True)
class Bin:
    """Examples of like confidence: how many, how sure their answers were on average, and the share of correct ones."""

    count: int
    confidence: float
    accuracy: float


def log_losses(probabilities: ArrayLike, labels: ArrayLike) -> Floats:
    """Minus the logarithm of each true class's probability, [N], in nats."""
    given, truth = _answers(probabilities, labels)
    return -np.log(np.maximum(given[np.arange(len(truth)), truth], LEAST))


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """The mean of `log_losses`: 0 for a classifier that is certain and always right."""
    return float(log_losses(probabilities, labels).mean())


def squared_errors(probabilities: ArrayLike, labels: ArrayLike) -> Floats:
    """The squared distance of each example's probabilities from those of somebody who knows its class, [N]."""
    given, truth = _answers(probabilities, labels)
    of_truth = given[np.arange(len(truth)), truth]
    distances: Floats = np.square(given).sum(axis=1) - 2 * of_truth + 1
    return distances


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """The mean of `squared_errors`, summed over classes: from 0, certain and right, to 2, certain and wrong."""
    return float(squared_errors(probabilities, labels).mean())


def reliability(confidence: ArrayLike, correct: ArrayLike, bins: int = BINS) -> list[Bin]:
    """The examples in bins of equal mass, the least sure first; as many bins as there are examples, if these are fewer."""
    if bins < 1:
        raise InputError(f"bins is {bins}; at least one is needed.")
    sure, right = _sorted(confidence, correct)
    count = min(bins, len(sure))
    parts = zip(np.array_split(sure, count), np.array_split(right, count), strict=True)
    return [Bin(len(part), float(part.mean()), float(hits.mean())) for part, hits in parts]


def expected_calibration_error(confidence: ArrayLike, correct: ArrayLike, bins: int = BINS) -> float:
    """The mean distance of confidence from accuracy, over bins of equal mass: 0 where answers of 80 % are right 4 times of 5."""
    return calibration_error(reliability(confidence, correct, bins))


def calibration_error(bins: Sequence[Bin]) -> float:
    """The mean distance of confidence from accuracy over the examples of given bins."""
    total = sum(one.count for one in bins)
    distances = sum(one.count * abs(one.confidence - one.accuracy) for one in bins)
    return distances / max(1, total)  # divided once, so that rounding never makes it more than one


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> Floats:
    """The share of wrong answers among the n surest, for n from 1 to N: the risk taken at the coverage n / N."""
    _, right = _sorted(confidence, correct)
    wrong = 1 - right[::-1]
    risks: Floats = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    return risks


def risks_at(risks: ArrayLike, coverages: Sequence[float]) -> list[float]:
    """What `risk_coverage` gave, [N], at some coverages above 0: the risk of so many of the N examples, rounded up."""
    curve = np.asarray(risks, dtype=np.float64)
    if not all(0 < coverage <= 1 for coverage in coverages):
        raise InputError(f"coverages are {list(coverages)}; each must be above 0 and at most 1.")
    return [float(curve[int(np.ceil(coverage * len(curve) - 1e-9)) - 1]) for coverage in coverages]


def risk_coverage_area(confidence: ArrayLike, correct: ArrayLike) -> float:
    """The mean risk over all coverages: small where answers are mostly right, and where the wrong ones are the unsure ones."""
    return float(risk_coverage(confidence, correct).mean())


def auroc(known: ArrayLike, other: ArrayLike) -> float:
    """How often an input of another kind is found more uncertain than a known one, ties counting half: 0.5 is chance.

    `known` and `other` are uncertainties of the two kinds of inputs, of any numbers and in any unit.
    """
    low, high = (np.asarray(values, dtype=np.float64).ravel() for values in (known, other))
    for name, values in (("known", low), ("other", high)):
        if not len(values) or np.isnan(values).any():
            what = "NaN in them" if len(values) else "no values"
            raise InputError(
                f"The uncertainties of {name} inputs have {what}; give a number for each of at least one input."
            )
    ordered = np.sort(low)
    below, not_above = (np.searchsorted(ordered, high, side=side) for side in ("left", "right"))
    return float((below + not_above).mean() / 2 / len(ordered))


def _answers(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Probabilities and labels as arrays, of at least one example."""
    given, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.int64)
    if given.ndim != 2 or truth.shape != given.shape[:1] or not len(truth):
        raise InputError(
            f"Probabilities have shape {given.shape} and labels {truth.shape}; give [N, classes] and [N] of at least one example."
        )
    return given, truth


def _sorted(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, Floats]:
    """Confidences in ascending order, and how often answers of this very confidence are right, [N] each."""
    sure, right = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if sure.ndim != 1 or right.shape != sure.shape or not len(sure):
        raise InputError(
            f"Confidences have shape {sure.shape} and correct answers {right.shape}; give [N] each, of at least one example."
        )
    values, group, counts = np.unique(sure, return_inverse=True, return_counts=True)
    shares = np.bincount(group, weights=right) / counts
    return np.repeat(values, counts), np.repeat(shares, counts)
