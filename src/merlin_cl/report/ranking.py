"""Who is best on a stream, by accuracy alone: what is told the task or breaks the rules by design has no rank."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from merlin_cl.metrics import holm, paired
from merlin_cl.report.summary import Row, first_answers, is_ceiling
from merlin_cl.report.text import stored_size

A = "average_incremental_accuracy"
LEADING = 3
"""Methods that a sentence names from the top."""
SURE = 0.05
"""A p-value, corrected for the whole table, below which two methods are told apart."""

Apart = Literal["", "another answer", "told the task", "ceiling"]


@dataclass(frozen=True)
class Place:
    """A row among those that answered the same question."""

    row: Row
    rank: int | None
    """1 for the most accurate, equal ones sharing a rank; None for a row that stands apart."""
    competitors: int
    """How many rows have a rank."""
    apart: Apart = ""
    """Why it has none: it is a further answer of a learner that has one, is told the task of every example, or is a ceiling."""
    p: float | None = None
    """Of a paired t-test beside the first over the seeds that both have, corrected by Holm's rule over all ranked rows.

    None for the first itself, for a row without a rank, and where seeds are too few.
    """

    @property
    def tied(self) -> bool:
        """Whether seeds enough were run, and yet it cannot be told from the first."""
        return self.p is not None and self.p >= SURE


def ranking(rows: Iterable[Row]) -> list[list[Place]]:
    """For every stream, data and view the rows by accuracy, the best first; those told the task follow, ceilings come last."""
    questions: dict[str, list[Row]] = {}
    for row in rows:
        key = json.dumps([row.stream, row.source, row.stream_changed, row.view], sort_keys=True)
        questions.setdefault(key, []).append(row)
    return [_ordered(group) for group in questions.values()]


def sentence(places: list[Place], called: Callable[[Row], str] | None = None, ours: str = "merlin") -> str:
    """One question's ranking in words: the leading methods, then ours with what it stores, then the ceiling.

    `called` names a row. A question with a single method says what it reached. Empty where nothing has a rank.
    """
    called = called or named
    ranked = [place for place in places if place.rank is not None]
    if not ranked:
        return ""
    leading = [f"{called(place.row)} {_accuracy(place)}" for place in ranked[:LEADING]]
    mine = next((place for place in ranked if place.row.method == ours), None)
    if mine is not None:
        stored = f" with {stored_size(mine.row.stored_bytes)}" if mine.row.stored_bytes is not None else ""
        rank = f", {ordinal(mine.rank or 0)} of {mine.competitors}" if mine.competitors > 1 else ""
        told = f"{called(mine.row)} {_accuracy(mine)}{stored}{rank}"
        if mine in ranked[:LEADING]:
            leading[ranked.index(mine)] = told
        else:
            leading.append(f"… {told}")
    ceilings = [f"ceiling {called(place.row)} {_accuracy(place)}" for place in places if place.apart == "ceiling"]
    text = ", ".join(leading).replace(", …", " …")
    return "; ".join(part for part in (text, _how_sure(ranked, called), *ceilings[:1]) if part)


def _how_sure(ranked: list[Place], called: Callable[[Row], str]) -> str:
    """What keeps the first from being the best beyond doubt, in words; empty where nothing does."""
    if len(ranked) < 2:
        return ""
    tied = [place for place in ranked if place.tied]
    if ranked[1].p is None:
        return "too few seeds to tell them apart"
    who = called(tied[0].row) if len(tied) == 1 else f"{len(tied)} others"
    return f"{who} cannot be told from the first" if tied else ""


def ordinal(rank: int) -> str:
    """A rank in words of a table.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 102)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd']
    """
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _ordered(rows: list[Row]) -> list[Place]:
    kinds = _kinds(rows)
    scores = [_mean(row) for row, apart in zip(rows, kinds, strict=True) if not apart]
    places = [
        Place(row, None if apart else 1 + sum(score > _mean(row) for score in scores), len(scores), apart)
        for row, apart in zip(rows, kinds, strict=True)
    ]
    last = ("", "another answer", "told the task", "ceiling")
    order = sorted(places, key=lambda place: (max(1, last.index(place.apart)), -_mean(place.row)))
    return beside_the_first(order)


def beside_the_first(places: list[Place]) -> list[Place]:
    """The same with every ranked row's p-value beside the first."""
    first = next((place.row for place in places if place.rank is not None), None)
    others = [place for place in places if place.rank is not None and place.row is not first]
    outcomes = [paired(place.row.values[A], first.values[A]) for place in others] if first is not None else []
    corrected = holm([outcome.p_value if outcome else None for outcome in outcomes])
    p_values = {id(place): p for place, p in zip(others, corrected, strict=True)}
    return [replace(place, p=p_values.get(id(place))) for place in places]


def _kinds(rows: list[Row]) -> list[Apart]:
    """Why each row stands apart. The first answer of a learner that is not told the task is the one that it is ranked by."""
    ranked = {id(row) for row in first_answers(row for row in rows if row.inference != "aware")}

    def kind(row: Row) -> Apart:
        if is_ceiling(row.method):
            return "ceiling"
        if row.inference == "aware":
            return "told the task"
        return "" if id(row) in ranked else "another answer"

    return [kind(row) for row in rows]


def _mean(row: Row) -> float:
    return row.mean[A] or 0.0


def named(row: Row) -> str:
    """The method, with its preset and a word on settings that are not its usual ones."""
    own = {name: value for name, value in row.changed.items() if name not in row.stream_changed}
    words = ([row.preset] if row.preset != "default" else []) + [f"{name} {value}" for name, value in own.items()]
    return f"{row.method} ({', '.join(words)})" if words else row.method


def _accuracy(place: Place) -> str:
    return f"{_mean(place.row):.1f}"
