"""Scores of a continual learner, as pure functions of its accuracy matrix.

Row k of the matrix holds the accuracies after task k, column j those on task j, in percent. A task is tested once it
has been learned, so row k has entries for j <= k; what follows them may be missing, None or NaN.

>>> matrix = [[99.0, None], [90.0, 97.0]]
>>> average_incremental_accuracy(matrix), final_accuracy(matrix), forgetting(matrix), backward_transfer(matrix)
(96.25, 93.5, 9.0, -9.0)
"""

import math
import statistics
from collections.abc import Callable, Sequence

from merlin_cl.errors import InputError

Matrix = Sequence[Sequence[float | None]]
Rows = list[list[float]]


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
BOUNDS = {
    "average_incremental_accuracy": (0.0, 100.0),
    "final_accuracy": (0.0, 100.0),
    "forgetting": (-100.0, 100.0),
    "backward_transfer": (-100.0, 100.0),
    "nll": (0.0, math.inf),
    "brier": (0.0, 2.0),
    "ece": (0.0, 100.0),
}
"""The least and the greatest that these, and what probabilities are worth, can be: no interval goes beyond."""


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
