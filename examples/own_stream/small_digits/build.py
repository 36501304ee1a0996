"""Builds `small-digits`."""

from pathlib import Path

from sklearn.datasets import load_digits

from merlin_cl import Stream
from small_digits import SmallDigitsSettings


def small_digits(settings: SmallDigitsSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives: which digits are kept for testing, and in which order the others arrive."""
    x, y = load_digits(return_X_y=True)
    return Stream.from_arrays(x / 16, y, settings.tasks, seed=seed, name="small-digits")
