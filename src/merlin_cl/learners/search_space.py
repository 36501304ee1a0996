"""Where `merlin tune` looks for a method's settings: a range or a choice for each setting that is searched. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Span:
    """Numbers from `low` to `high`, even by factors (`log`) or by differences."""

    low: float
    high: float
    log: bool = True

    def __contains__(self, value: object) -> bool:
        return isinstance(value, float | int) and self.low <= value <= self.high

    def record(self) -> dict[str, Any]:
        """Plain values, for the record of a search."""
        return {"low": self.low, "high": self.high, "log": self.log}


class Among:
    """One of some values.

    >>> 3 in Among(1, 3, 10), 2 in Among(1, 3, 10)
    (True, False)
    """

    def __init__(self, *values: bool | int | float | str) -> None:
        self.values = values

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def record(self) -> list[Any]:
        """Plain values, for the record of a search."""
        return list(self.values)


Space = Mapping[str, Span | Among]
"""Settings by name."""
