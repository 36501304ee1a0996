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


def nats(value: float | None) -> str:
    """A likelihood or a Brier score to three decimals.

    >>> nats(0.4286), nats(None)
    ('0.429', '–')
    """
    return NONE if value is None else f"{value:.3f}"


def with_deviation(mean: float | None, std: float | None) -> str:
    """A mean, its standard deviation under it where there is one."""
    return percent(mean) if std is None else f"{percent(mean)}\n± {std:.2f}"


def with_interval(mean: float | None, std: float | None, half_width: float | None) -> str:
    """A mean, under it the standard deviation and the ends of the interval where there are any.

    >>> with_interval(90.0, 1.0, 2.5)
    '90.00\\n± 1.00\\n[87.50, 92.50]'
    """
    shown = with_deviation(mean, std)
    if mean is None or half_width is None:
        return shown
    return f"{shown}\n[{mean - half_width:.2f}, {mean + half_width:.2f}]"


def signed(value: float | None) -> str:
    """A difference to two decimals, with its sign.

    >>> signed(0.5), signed(-1), signed(None)
    ('+0.50', '-1.00', '–')
    """
    return NONE if value is None else f"{value:+.2f}"


def probability(value: float | None) -> str:
    """A p-value.

    >>> probability(0.0312), probability(0.00001), probability(None)
    ('0.031', '<0.001', '–')
    """
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def size(count: float) -> str:
    """Bytes in the unit that suits them.

    >>> size(31), size(156800), size(2_500_000)
    ('31 B', '156.8 kB', '2.5 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def stored_size(count: float | None) -> str:
    """What a method keeps between tasks; None where it does not state it.

    >>> stored_size(1200), stored_size(None)
    ('1.2 kB', 'not stated')
    """
    return "not stated" if count is None else size(count)


def parts(values: Mapping[str, object]) -> str:
    """Names and values in one line.

    >>> parts({"base": "1 s", "infer": "2 s"})
    'base 1 s, infer 2 s'
    """
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "none"
