"""Numbers and consoles, the same in every table."""

import sys
from collections.abc import Mapping

from rich.console import Console

PLAIN_WIDTH = 100
"""Columns where standard output is no terminal, as in a file or a pipe."""

NONE = "–"


def console() -> Console:
    """Standard output for tables: as wide as the terminal, or a fixed width."""
    found = Console(file=sys.stdout, highlight=False)
    if not found.is_terminal:
        found.width = PLAIN_WIDTH
    return found


def percent(value: float | None) -> str:
    """A percentage to two decimals.

    >>> percent(90.6999), percent(None)
    ('90.70', '–')
    """
    return NONE if value is None else f"{value:.2f}"


def with_deviation(mean: float | None, std: float | None) -> str:
    """A mean, its standard deviation under it where there is one."""
    return percent(mean) if std is None else f"{percent(mean)}\n± {std:.2f}"


def size(count: float) -> str:
    """Bytes in the unit that suits them.

    >>> size(31), size(156800), size(2_500_000)
    ('31 B', '156.8 kB', '2.5 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def parts(values: Mapping[str, object]) -> str:
    """Names and values in one line.

    >>> parts({"base": "1 s", "infer": "2 s"})
    'base 1 s, infer 2 s'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "none"
