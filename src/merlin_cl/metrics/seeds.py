"""Statistics of scores over seeds: means, intervals, and comparisons seed by seed."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merlin_cl.errors import InputError

CONFIDENCE = 0.95
"""How often an interval holds the true mean, were the whole set of seeds drawn again and again."""
ENOUGH_SEEDS = 5
"""Seeds from which there are intervals and p-values. With two, Student's quantile is 12.7: an interval would say nothing, and a
test could hardly ever tell a difference from chance. Where there are fewer, every seed is shown by itself."""


def mean(values: Sequence[float]) -> float:
    """The mean over seeds."""
    if not values:
        raise InputError("The mean of no values was asked for; give at least one.")
    return statistics.fmean(values)


def standard_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds, with n - 1 in the denominator; None for fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def half_width(values: Sequence[float]) -> float | None:
    """Half the length of Student's 95 % interval for the mean over seeds; None for fewer than `ENOUGH_SEEDS` values.

    >>> round(half_width([90.0, 92.0, 91.0, 90.0, 92.0]), 3), half_width([90.0, 92.0])
    (1.242, None)
    """
    deviation = standard_deviation(values)
    if deviation is None or len(values) < ENOUGH_SEEDS:
        return None
    from scipy.special import stdtrit  # here, as it takes a moment to import and most commands need none of it

    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return quantile * deviation / math.sqrt(len(values))


def interval(
    values: Sequence[float], least: float = -math.inf, greatest: float = math.inf
) -> tuple[float, float] | None:
    """Student's 95 % interval for the mean over seeds, as far as it lies between the least and the greatest mean there can be.

    What is cut off could not hold the true mean, so the interval holds it as often as before. None for fewer than
    `ENOUGH_SEEDS` values.

    >>> low, high = interval([99.0, 100.0, 100.0, 100.0, 100.0], 0.0, 100.0)
    >>> round(low, 3), high
    (99.245, 100.0)
    """
    half = half_width(values)
    if half is None:
        return None
    middle = mean(values)
    return max(middle - half, least), min(middle + half, greatest)


@dataclass(frozen=True)
class Comparison:
    """Two methods over the same seeds: the mean difference, its 95 % interval and the p-value of a paired t-test."""

    seeds: int
    difference: float
    half_width: float | None
    """None for fewer than `ENOUGH_SEEDS` seeds."""
    p_value: float | None
    """How likely a difference this large would be if there were none; two-sided, None for fewer than `ENOUGH_SEEDS` seeds."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval of the difference."""
        half = self.half_width
        return None if half is None else (self.difference - half, self.difference + half)


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Comparison | None:
    """First minus second over the seeds that both have, None where they share none; values by seed.

    >>> ours, theirs = {0: 93.0, 1: 94.0, 2: 92.0, 3: 93.0, 4: 93.0, 5: 9.0}, dict.fromkeys(range(5), 91.0)
    >>> compared = paired(ours, theirs)
    >>> compared.seeds, compared.difference, round(compared.half_width, 3), round(compared.p_value, 4)
    (5, 2.0, 0.878, 0.0032)
    """
    differences = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    if not differences:
        return None
    return Comparison(len(differences), mean(differences), half_width(differences), _p_value(differences))


def _p_value(differences: Sequence[float]) -> float | None:
    """Two-sided, of Student's t-test that the differences have mean zero."""
    deviation = standard_deviation(differences)
    if deviation is None or len(differences) < ENOUGH_SEEDS:
        return None
    average = mean(differences)
    if deviation == 0:
        return 1.0 if average == 0 else 0.0
    from scipy.special import stdtr

    t = average / deviation * math.sqrt(len(differences))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))


def mcnemar(gained: int, lost: int) -> float:
    """How likely examples would change sides as unevenly as this if neither of two ways to answer were the better one; two-sided.

    `gained` are examples that only the first way answers rightly, `lost` those that only the second does. It tells two learners
    apart by the examples they were asked about, where there are too few seeds for `paired`; it says nothing of other seeds.

    >>> round(mcnemar(9, 1), 4), mcnemar(3, 3)
    (0.0215, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values of a table corrected for its size, by Holm's step-down rule: all that are below 5 % hold together at 5 %.

    None stays None and counts as no test.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - rank) * p))
        corrected[place] = least
    return corrected
