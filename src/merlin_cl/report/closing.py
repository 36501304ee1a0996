"""What figures mean, in one sentence at the end of a command's output; coloured where the terminal has colours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from merlin_cl.report.diagnosis import CONTROL
from merlin_cl.report.ranking import A, Place, named, ranking, sentence
from merlin_cl.report.summary import Row
from merlin_cl.report.text import stored_size, stream_title

GOOD, PLAIN, DOUBTFUL = "bold green", "bold cyan", "bold yellow"


def print_closing(out: Console, rows: Sequence[Row]) -> None:
    """For every stream the sentence of its first view."""
    for words, style in closings(rows):
        out.print(Text(words, style=style))


def closings(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """A sentence and its style for every stream: what one method reached, or how several rank."""
    first: dict[tuple[str, str, str], list[Place]] = {}
    for places in ranking(rows):
        row = places[0].row
        first.setdefault((row.stream, row.source, str(row.stream_changed)), places)
    return [_closing(places) for places in first.values()]


def _closing(places: list[Place]) -> tuple[str, str]:
    ranked = [place for place in places if place.rank is not None]
    if len(ranked) == 1:
        return _alone(ranked[0].row), PLAIN
    row = places[0].row
    said = sentence(places)
    where = f"{stream_title(row.stream)}, {row.view}"
    if not said:  # ceilings alone, or what is told the task
        return f"{where}: {named(row)} {row.mean[A]:.1f} %; nothing here has a rank.", PLAIN
    unsure = "too few seeds" in said or "cannot be told" in said
    above = _above_control(ranked)
    return f"{where}: {said}.{above}", DOUBTFUL if unsure else PLAIN


def _alone(row: Row) -> str:
    """What a single method reached, kept and forgot."""
    final, forgotten = row.mean["final_accuracy"], row.mean["forgetting"]
    seeds = "" if len(row.seeds) == 1 else f", means over {len(row.seeds)} seeds"
    lost = "" if forgotten is None else _lost(forgotten)
    return (
        f"In words: {named(row)} answered {row.mean[A]:.1f} % right on average while it learned {stream_title(row.stream)} "
        f"({row.view}) and {final:.1f} % at the end; it {lost}keeps {stored_size(row.stored_bytes)}{seeds}."
    )


def _lost(points: float) -> str:
    if points < 0:
        return f"got {-points:.1f} points better at earlier tasks and "
    return f"forgot {points:.1f} points of each earlier task and "


def _above_control(ranked: list[Place]) -> str:
    """What ours has above the control; empty where one of them is not there, or the ranking says it all."""
    rows = {place.row.method: place.row for place in reversed(ranked)}
    if not {"merlin", CONTROL} <= set(rows):
        return ""
    ours, control = rows["merlin"].mean[A], rows[CONTROL].mean[A]
    if ours is None or control is None:
        return ""
    side = "above" if ours >= control else "below"
    return (
        f" MERLIN is {abs(ours - control):.1f} points {side} {CONTROL}, which has the same exemplars and nothing else."
    )
