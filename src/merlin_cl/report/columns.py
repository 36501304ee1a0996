"""Tables that fit a terminal: columns that there is no room for are left out, the least worth first, and none is cut."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich import box
from rich.markup import escape
from rich.table import Table

GAP = 2
"""Columns of the terminal between two columns of a table, and at its two edges together."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column: how to fill it, and how soon it goes where there is no room for all."""

    heading: str
    cell: Callable[[Item], str]
    worth: int = 0
    """The higher, the longer it stays; 0 stays always."""
    left: bool = False
    """Words rather than numbers."""

    def width(self, items: Iterable[Item]) -> int:
        """What its longest line needs, the gap to the next column included."""
        texts = (self.heading, *(self.cell(item) for item in items))
        return max(len(line) for text in texts for line in text.split("\n")) + GAP


def fitting(columns: Iterable[Column[Item]], items: Sequence[Item], width: int) -> list[Column[Item]]:
    """The columns that a width has room for; the least worth go first."""
    kept = list(columns)
    widths = {id(column): column.width(items) for column in kept}
    while sum(widths[id(column)] for column in kept) > width and any(column.worth for column in kept):
        kept.remove(min((column for column in kept if column.worth), key=lambda column: column.worth))
    return kept


def table_of(
    columns: Sequence[Column[Item]],
    items: Sequence[Item],
    title: str | None = None,
    style: Callable[[Item], str | None] = lambda item: None,
    apart: Callable[[Item], bool] = lambda item: False,
) -> Table:
    """A table of all columns; where `apart` changes from one item to the next, there is a line between them."""
    table = plain_table(title)
    for column in columns:
        # Only what always stays can be too long; it then goes on in the next line.
        table.add_column(
            column.heading, justify="left" if column.left else "right", no_wrap=not column.left, overflow="fold"
        )
    for before, item in zip([None, *items], items, strict=False):
        if before is not None and apart(before) != apart(item):
            table.add_section()
        table.add_row(*(escape(column.cell(item)) for column in columns), style=style(item))
    return table


def plain_table(title: str | None = None, gap: int = 1) -> Table:
    """An empty table in the one look that all have, with so many columns more than one between its columns."""
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
