"""What methods in one table had to learn with, where they did not all have the same: a reader is told without asking."""

from collections.abc import Iterable, Sequence
from typing import Any

from merlin_cl.learners.means import COMPARED
from merlin_cl.report.summary import Row

NAMED = (*COMPARED, "search_trials")
"""In this order."""


def unequal_means(rows: Iterable[Row]) -> list[str]:
    """A sentence for every stream whose methods had unequal means; a method that has no such setting has no part in it."""
    streams: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        streams.setdefault((row.stream, row.source), []).append(row)
    differing = [(stream, _differences(members)) for (stream, _), members in streams.items()]
    return [f"Unequal means on {stream}: {'; '.join(differences)}." for stream, differences in differing if differences]


def _differences(rows: Sequence[Row]) -> list[str]:
    return [told for name in NAMED if (told := _difference(name, rows))]


def _difference(name: str, rows: Sequence[Row]) -> str:
    """Who has which value; of many methods those that share the commonest one are not named."""
    methods: dict[str, list[str]] = {}  # by value
    for row in rows:
        if name in row.means:
            of_value = methods.setdefault(_shown(row.means[name]), [])
            if row.method not in of_value:
                of_value.append(row.method)
    if len(methods) < 2:
        return ""
    commonest = max(methods, key=lambda value: len(methods[value]))
    many = len(methods[commonest]) > 3
    parts = [
        f"{value} for most" if many and value == commonest else f"{value} ({', '.join(methods[value])})"
        for value in sorted(methods, key=lambda value: value != commonest)
    ]
    return f"{name} {', '.join(parts)}"


def _shown(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
