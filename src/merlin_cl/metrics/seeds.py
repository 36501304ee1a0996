"""Statistics of scores over seeds: means, intervals, and comparisons seed by seed."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merlin_cl.errors import InputError

CONFIDENCE = 0.95
"""How often an interval holds the true mean, were the whole set of seeds drawn again and again."""


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
