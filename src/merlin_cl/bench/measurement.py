"""What a part of the benchmark gives: its heading, its table, and what it means in words."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

ProgressCallback = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""


@dataclass(frozen=True)
class Measurement:
    """One part, measured."""

    title: str
    about: str
    """What was measured, in brief."""
    words: str
    """What came of it, as half a sentence."""
    table: Table | None = None
    note: str = ""


def table(*headings: str) -> Table:
    """A table whose first column is words and whose others are numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, heading in enumerate(headings):
        made.add_column(heading, justify="right" if place else "left", no_wrap=True)
    return made
