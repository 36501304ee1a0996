"""Means over seeds with their 95 % intervals, as plain values that the page's figures read."""

import math
from collections.abc import Sequence
from typing import Any

from merlin_cl.metrics import BOUNDS, ENOUGH_SEEDS, interval, mean, standard_deviation

Estimate = dict[str, Any]
"""mean; low and high, the ends of the interval, None where seeds are too few; std, None for one; each seed where they are few."""

ESTIMATE = ("mean", "low", "high", "std", "each")
"""The parts of an estimate, in the order in which the page's script unpacks them."""
DECIMALS = 4
PERCENT = BOUNDS["final_accuracy"]


def estimate(values: Sequence[float], bounds: tuple[float, float] = PERCENT) -> Estimate:
    """The mean over seeds and how far it can be trusted; `bounds` are the least and the greatest it can be.

    >>> estimate([90.0])
    {'mean': 90.0, 'low': None, 'high': None, 'std': None, 'each': None}
    >>> estimate([90.0, 92.0, 91.0])
    {'mean': 91.0, 'low': None, 'high': None, 'std': 1.0, 'each': [90.0, 92.0, 91.0]}
    >>> estimate([98.0, 99.0, 100.0, 100.0, 100.0])
    {'mean': 99.4, 'low': 98.2894, 'high': 100.0, 'std': 0.8944, 'each': None}
    """
    low, high = interval(values, *bounds) or (None, None)
    return {
        "mean": rounded(mean(values)),
        "low": rounded(low),
        "high": rounded(high),
        "std": rounded(standard_deviation(values)),
        "each": [rounded(value) for value in values] if 1 < len(values) < ENOUGH_SEEDS else None,
    }


def estimate_or_none(values: Sequence[float | None], bounds: tuple[float, float] = PERCENT) -> Estimate | None:
    """The same of the finite values there are, None where there is none."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return estimate(finite, bounds) if finite else None


def rounded(value: float | None) -> float | None:
    """Four decimals: beyond what any figure shows or any seed decides, and half of the bytes."""
    return None if value is None else round(value, DECIMALS)
