"""Means over seeds with their 95 % intervals, as plain values that the page's figures read."""

import math
from collections.abc import Sequence
from typing import Any

from merlin_cl.metrics import half_width, mean, standard_deviation

Estimate = dict[str, Any]
"""mean, low, high (ends of the interval), std; the last three are None for a single value."""

DECIMALS = 4


def estimate(values: Sequence[float]) -> Estimate:
    """The mean over seeds and how far it can be trusted.

    >>> estimate([90.0])
    {'mean': 90.0, 'low': None, 'high': None, 'std': None}
    >>> estimate([90.0, 92.0, 91.0])
    {'mean': 91.0, 'low': 88.5159, 'high': 93.4841, 'std': 1.0}
    """
    middle, half = mean(values), half_width(values)
    return {
        "mean": rounded(middle),
        "low": None if half is None else rounded(middle - half),
        "high": None if half is None else rounded(middle + half),
        "std": rounded(standard_deviation(values)),
    }


def estimate_or_none(values: Sequence[float | None]) -> Estimate | None:
    """The same of the finite values there are, None where there is none."""
    found = [value for value in values if value is not None and math.isfinite(value)]
    return estimate(found) if found else None


def rounded(value: float | None) -> float | None:
    """Four decimals: beyond what any figure shows or any seed decides, and half of the bytes."""
    return None if value is None else round(value, DECIMALS)
