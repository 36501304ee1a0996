"""Columns of a table as numbers: a number stays one, a text becomes a 1 in the place of its category.

What is a number and what a category is settled by the first rows, and so are the categories; a text that comes later is `other`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from merlin_cl.errors import InputError
from merlin_cl.inputs.labels import name_of
from merlin_cl.inputs.tables import Table, is_missing

MOST_CATEGORIES = 100
"""Of a column; more is rather a name than a category."""
OTHER = "other"

Categories = tuple[str, ...]


@dataclass(frozen=True)
class TableEncoding:
    """How rows become inputs."""

    columns: tuple[str, ...]
    categories: tuple[Categories | None, ...]
    """Of each column; None: it holds numbers."""

    @classmethod
    def settled_by(cls, table: Table, categorical: Sequence[str] | None = None) -> Self:
        """The encoding for rows like those of a table; `categorical` columns hold categories, by default all with a text."""
        kinds = [
            _categories(table, name, known=categorical is not None and name in categorical)
            if categorical is None or name in categorical
            else None
            for name in table.columns
        ]
        return cls(tuple(table.columns), tuple(kinds))

    @property
    def names(self) -> list[str]:
        """What each number of an input stands for."""
        names: list[str] = []
        for column, kinds in zip(self.columns, self.categories, strict=True):
            names += [column] if kinds is None else [f"{column}={kind}" for kind in (*kinds, OTHER)]
        return names

    @property
    def width(self) -> int:
        """Numbers of an input."""
        return sum(1 if kinds is None else len(kinds) + 1 for kinds in self.categories)

    def rows(self, table: Table, fill: bool) -> np.ndarray[Any, Any]:
        """The rows of a table, float64 [N, width]; a missing number is NaN, if it may be filled in, and otherwise refused."""
        parts = []
        for name, kinds in zip(self.columns, self.categories, strict=True):
            if kinds is None:
                parts.append(table.numbers(name, missing=fill)[:, None])
                continue
            values = table.column(name)
            part = np.zeros((len(values), len(kinds) + 1))
            for at, value in enumerate(values):
                if not is_missing(value):  # nothing is no category
                    kind = name_of(value) or OTHER
                    part[at, kinds.index(kind) if kind in kinds else len(kinds)] = 1.0
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def record(self) -> list[list[str] | None]:
        """The categories as JSON holds them."""
        return [None if kinds is None else list(kinds) for kinds in self.categories]

    @classmethod
    def from_record(cls, columns: Sequence[str], record: Any) -> Self:
        """What `record` gave; ValueError where it cannot have given that."""
        whole = isinstance(record, list) and len(record) == len(columns)
        if not whole or not all(kinds is None or _is_list_of_names(kinds) for kinds in record):
            raise ValueError("its columns are encoded in no way that is known")
        return cls(tuple(columns), tuple(None if kinds is None else tuple(kinds) for kinds in record))


def _is_list_of_names(kinds: Any) -> bool:
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        return False
    return len(kinds) <= MOST_CATEGORIES and len(set(kinds)) == len(kinds)


def _categories(table: Table, name: str, known: bool) -> Categories | None:
    """The texts of a column in the order in which they come; None where all of it is numbers."""
    values = [value for value in table.column(name) if not is_missing(value)]
    for value in values:
        if hasattr(value, "isoformat") or type(value).__name__ in (
            "datetime64",
            "Timedelta",
            "timedelta",
            "timedelta64",
        ):
            raise InputError(
                f"Column {name!r} of {table.place} holds dates or times, such as {value}; give numbers in their place, such as "
                "the hour, the day of the week or the days since a day."
            )
    if not known and all(_is_number(value) for value in values):
        return None
    kinds = tuple(dict.fromkeys(name_of(value) or OTHER for value in values))
    if len(kinds) > MOST_CATEGORIES:
        raise InputError(
            f"Column {name!r} of {table.place} holds {len(kinds):,} different texts, such as {kinds[0]!r}; leave it out, or make "
            f"at most {MOST_CATEGORIES} categories of them."
        )
    return kinds


def _is_number(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not (isinstance(value, float) and math.isnan(value))
