"""Scores of a continual learner, as pure functions of its accuracy matrix, and statistics of scores over seeds.

Row k of the matrix holds the accuracies after task k, column j those on task j, in percent. A task is tested once it
has been learned, so row k has entries for j <= k; what follows them may be missing, None or NaN.

>>> matrix = [[99.0, None], [90.0, 97.0]]
>>> average_incremental_accuracy(matrix), final_accuracy(matrix), forgetting(matrix), backward_transfer(matrix)
(96.25, 93.5, 9.0, -9.0)
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from merlin_cl.errors import InputError

Matrix = Sequence[Sequence[float | None]]
Rows = list[list[float]]
CONFIDENCE = 0.95
"""How often an interval holds the true mean, were the whole set of seeds drawn again and again."""


def learning_curve(matrix: Matrix) -> list[float]:
    """A_k for every k: the mean accuracy over the tasks seen once task k has been learned."""
    return [statistics.fmean(row) for row in _triangle(matrix)]


def average_incremental_accuracy(matrix: Matrix) -> float:
    """The mean of the learning curve: what the paper's tables call A."""
    return statistics.fmean(learning_curve(matrix))


def final_accuracy(matrix: Matrix) -> float:
    """The last point of the learning curve: the mean accuracy over all tasks after the last one."""
    return learning_curve(matrix)[-1]


def forgetting_by_task(matrix: Matrix) -> list[float]:
    """For every task but the last: its best accuracy before the last task, minus its accuracy at the end."""
    rows = _triangle(matrix)
    last = len(rows) - 1
    return [max(rows[k][j] for k in range(j, last)) - rows[last][j] for j in range(last)]


def forgetting(matrix: Matrix) -> float | None:
    """The mean of `forgetting_by_task`: negative where tasks got better later, None after one task."""
    return _mean_or_none(forgetting_by_task(matrix))


def backward_transfer(matrix: Matrix) -> float | None:
    """The mean, over all but the last task, of accuracy at the end minus accuracy when learned; None after one task."""
    rows = _triangle(matrix)
    return _mean_or_none([rows[-1][j] - rows[j][j] for j in range(len(rows) - 1)])


METRICS: dict[str, Callable[[Matrix], float | None]] = {
    "average_incremental_accuracy": average_incremental_accuracy,
    "final_accuracy": final_accuracy,
    "forgetting": forgetting,
    "backward_transfer": backward_transfer,
}
"""The numbers reported of every matrix, by the names they have in result.json."""


def mean(values: Sequence[float]) -> float:
    """The mean over seeds."""
    if not values:
        raise InputError("The mean of no values was asked for; give at least one.")
    return statistics.fmean(values)


def standard_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds, with n - 1 in the denominator; None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def half_width(values: Sequence[float]) -> float | None:
    """Half the length of Student's 95 % interval for the mean over seeds; None for fewer than two values.

    >>> round(half_width([90.0, 92.0, 91.0]), 3)
    2.484
    """
    deviation = standard_deviation(values)
    if deviation is None:
        return None
    from scipy.special import stdtrit  # here, as it takes a moment to import and most commands need none of it

    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return quantile * deviation / math.sqrt(len(values))


@dataclass(frozen=True)
class Comparison:
    """Two methods over the same seeds: the mean difference, its 95 % interval and the p-value of a paired t-test."""

    seeds: int
    difference: float
    half_width: float | None
    p_value: float | None
    """How likely a difference this large would be if there were none; two-sided, None for fewer than two seeds."""


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Comparison | None:
    """First minus second over the seeds that both have, None where they share none; values by seed.

    >>> compared = paired({0: 93.0, 1: 94.0, 2: 92.0, 3: 9.0}, {0: 91.0, 1: 91.0, 2: 91.0})
    >>> compared.seeds, compared.difference, round(compared.half_width, 3), round(compared.p_value, 4)
    (3, 2.0, 2.484, 0.0742)
    """
    differences = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    if not differences:
        return None
    return Comparison(len(differences), mean(differences), half_width(differences), _p_value(differences))


def _p_value(differences: Sequence[float]) -> float | None:
    """Two-sided, of Student's t-test that the differences have mean zero."""
    deviation = standard_deviation(differences)
    if deviation is None:
        return None
    average = mean(differences)
    if deviation == 0:
        return 1.0 if average == 0 else 0.0
    from scipy.special import stdtr

    t = average / deviation * math.sqrt(len(differences))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))


def _mean_or_none(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _triangle(matrix: Matrix) -> Rows:
    """The entries j <= k, checked."""
    if not matrix:
        raise InputError("The accuracy matrix is empty; it needs one row for each task learned.")
    rows: Rows = []
    for k, row in enumerate(matrix):
        entries = [value for value in row[: k + 1] if value is not None and not math.isnan(value)]
        if len(entries) <= k:
            raise InputError(f"Row {k} of the accuracy matrix needs an accuracy for each of tasks 0 to {k}.")
        if not all(0 <= value <= 100 for value in entries):
            raise InputError(f"Row {k} of the accuracy matrix has values outside 0 to 100; accuracies are percentages.")
        rows.append(entries)
    return rows
