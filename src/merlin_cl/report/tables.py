"""Tables for the terminal: a table for every stream and view, its rows by accuracy, each with method, answer and seeds."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from merlin_cl.metrics import ENOUGH_SEEDS
from merlin_cl.report.columns import Column, fitting, plain_table, table_of
from merlin_cl.report.means import unequal_means
from merlin_cl.report.ranking import Place, ranking
from merlin_cl.report.summary import Contest, Result, Row, is_ceiling, stored_in_all
from merlin_cl.report.text import (
    NONE,
    PLAIN_WIDTH,
    ends,
    nats,
    parts,
    percent,
    probability,
    signed,
    size,
    stored_size,
    stream_title,
)
from merlin_cl.runs.calibration import COVERED

AVERAGE = "average_incremental_accuracy"
SHOWN_COVERAGES = (20, 50, 80, 100)
"""Shares of the answers in percent, the surest first, whose error is shown."""


def print_scores(out: Console, rows: list[Row]) -> None:
    """All there is to say of some rows: the tables, and under them what a reader has to know."""
    out.print(*scores_tables(rows, out.width), sep="")
    out.print(scores_caption(rows))
    if left_out := _left_out(rows, out.width):
        out.print(f"On a wider terminal also: {', '.join(left_out)}.")


def scores_tables(rows: list[Row], width: int) -> list[Table]:
    """For every stream and view a table of its rows by accuracy; columns that would not fit into a width are left out."""
    notes = _notes(rows)
    return [_scores_table(places, notes, width) for places in ranking(rows)]


def _scores_table(places: list[Place], notes: list[str], width: int) -> Table:
    columns = fitting(_columns(places, notes), places, width)
    title = _question(places[0].row)
    return table_of(
        columns, places, title, lambda place: "bold" if place.rank == 1 < place.competitors else None, _stands_apart
    )


def _left_out(rows: list[Row], width: int) -> list[str]:
    """The headings of columns that a width has no room for."""
    notes, names = _notes(rows), dict[str, None]()
    for places in ranking(rows):
        columns = _columns(places, notes)
        shown = fitting(columns, places, width)
        names |= dict.fromkeys(column.heading for column in columns if column not in shown)
    return list(names)


def _stands_apart(place: Place) -> bool:
    return place.apart in ("told the task", "ceiling")


def _question(row: Row) -> str:
    return escape(f"{stream_title(row.stream)}, {row.view}")


def _columns(places: list[Place], notes: list[str]) -> list[Column[Place]]:
    """Every column that has something to say of these rows, in the order in which they are read."""
    several = any(place.competitors > 1 for place in places)
    intervals = any(place.row.interval(AVERAGE) for place in places)
    columns: list[Column[Place] | None] = [
        Column("rank", lambda place: NONE if place.rank is None else str(place.rank), 0) if several else None,
        Column("method", lambda place: _contestant(place.row, notes) + _aside(place), 0, left=True),
        Column("A", lambda place: _spread(place.row, AVERAGE, percent), 0),
        Column("95 % interval", lambda place: _interval(place.row), 90) if intervals else None,
        Column("stored", lambda place: stored_size(place.row.stored_bytes), 80),
        Column("seeds", lambda place: str(len(place.row.seeds)), 85),
        Column("paper", lambda place: NONE if place.row.paper is None else f"{place.row.paper.mean:g}", 70),
        Column("final", lambda place: _spread(place.row, "final_accuracy", percent), 60),
        Column("forgetting", lambda place: _spread(place.row, "forgetting", percent), 50),
        Column("NLL", lambda place: _spread(place.row, "nll", nats), 40),
        Column("ECE", lambda place: _spread(place.row, "ece", percent), 30),
        Column("exemplars", lambda place: _or_none(place.row.exemplars), 20),
        Column("updates", lambda place: _or_none(place.row.updates_per_batch or None), 10),
    ]
    kept = [column for column in columns if column is not None]
    return [column for column in kept if not column.worth or any(column.cell(place) != NONE for place in places)]


def _aside(place: Place) -> str:
    return {"ceiling": " (ceiling)", "told the task": " (told the task)"}.get(place.apart, "")


def _spread(row: Row, name: str, shown: Callable[[float | None], str]) -> str:
    """A mean over seeds and, where there are several, the standard deviation."""
    std = row.std[name]
    return shown(row.mean[name]) if std is None else f"{shown(row.mean[name])} ± {shown(std)}"


def _interval(row: Row) -> str:
    return "too few seeds" if len(row.seeds) < ENOUGH_SEEDS else ends(row.interval(AVERAGE))


def _or_none(value: int | None) -> str:
    return NONE if value is None else str(value)


def scores_caption(rows: list[Row]) -> str:
    """What a reader has to know beside the tables."""
    lines = [
        "A: average incremental accuracy in percent, the mean over k of the accuracy on tasks 1 to k after task k; "
        "final: after the last task. stored: all that is kept between tasks.",
    ]
    if any(row.mean["nll"] is not None for row in rows):
        lines.append("NLL in nats and ECE in percent tell what the probabilities were worth after the last task.")
    if any(len(row.seeds) > 1 for row in rows):
        lines.append(f"± is the standard deviation over seeds (n - 1); intervals need {ENOUGH_SEEDS} seeds.")
    if any(row.paper for row in rows):
        lines.append("paper: its A over five seeds.")
    if any(is_ceiling(row.method) for row in rows):
        lines.append("A ceiling breaks the rules by design, to show what could be reached; it has no rank.")
    lines += unequal_means(rows)
    lines += [f"[{number}] {note}" for number, note in enumerate(_notes(rows), start=1)]
    lines += [
        f"Data of {stream}: {source}" for stream, source in dict.fromkeys((row.stream, row.source) for row in rows)
    ]
    return escape("\n".join(lines))


def contests_tables(contests: list[Contest], rows: list[Row]) -> list[Table]:
    """For every question each row beside the best, seed by seed; `rows` are those of the tables it follows."""
    notes = _notes(rows)
    questions: dict[int, list[Contest]] = {}
    for contest in contests:
        questions.setdefault(id(contest.best), []).append(contest)
    return [_contests_table(group, notes) for group in questions.values()]


def _contests_table(contests: list[Contest], notes: list[str]) -> Table:
    best = contests[0].best
    table = plain_table(f"{_question(best)}: A beside {escape(_contestant(best, notes))}, seed by seed")
    table.add_column("method", overflow="fold")
    tested = any(contest.outcome.p_value is not None for contest in contests)
    for heading in ("difference", *(("95 % interval", "p (Holm)") if tested else ()), "seeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for contest in sorted(contests, key=lambda contest: -contest.outcome.difference):
        outcome = contest.outcome
        sure = (ends(outcome.interval, signed), probability(outcome.p_value)) if tested else ()
        name = escape(_contestant(contest.row, notes))
        table.add_row(name, signed(outcome.difference), *sure, str(outcome.seeds))
    return table


def _contestant(row: Row, notes: list[str]) -> str:
    preset = f" ({row.preset})" if row.preset != "default" else ""
    answering = f", {row.inference}" if row.inference else ""
    return f"{row.method}{preset}{answering}{_mark(row, notes)}"


def _mark(row: Row, notes: list[str]) -> str:
    """The number of the note that says what was set otherwise than the defaults."""
    return f" [{notes.index(parts(row.changed)) + 1}]" if row.changed else ""


def curve_table(result: Result, width: int = PLAIN_WIDTH) -> Table:
    """The learning curve of one run: mean accuracy on the tasks seen, after each task, or after some where tasks are many."""
    tasks: int = result["tasks"]
    every = 1
    while (columns := _curve_columns(tasks, every)) != fitting(columns, result["scores"], width) and every < tasks:
        every += 1
    return table_of(columns, result["scores"], "mean accuracy on the tasks seen, after task")


def _curve_columns(tasks: int, every: int) -> list[Column[dict[str, Any]]]:
    """View and inference mode, then one task in every so many, counted back from the last."""

    def after(task: int) -> Column[dict[str, Any]]:
        return Column(str(task + 1), lambda score: percent(score["learning_curve"][task]), worth=1)

    return [
        Column("view", lambda score: score["view"], left=True),
        Column("inference", lambda score: score["inference"] or NONE, left=True),
        *(after(task) for task in range((tasks - 1) % every, tasks, every)),
    ]


def calibration_table(result: Result) -> Table | None:
    """What the probabilities of one run were worth at the end; None where that was not measured."""
    measured = [(score, score["uncertainty"]) for score in result["scores"] if score.get("uncertainty")]
    if not measured:
        return None
    table = plain_table("probabilities at the end, error of the surest 20 to 100 % of the answers", gap=0)
    _add_columns(table, ("NLL", "Brier", "ECE", *(f"{share} %" for share in SHOWN_COVERAGES), "area"))
    for score, record in measured:
        risks = [record["risks"][COVERED.index(share)] for share in SHOWN_COVERAGES] if "risks" in record else []
        errors = (
            [*map(percent, risks), percent(record.get("risk_area"))] if risks else [NONE] * (len(SHOWN_COVERAGES) + 1)
        )
        figures = (nats(record["nll"][-1]), nats(record["brier"][-1]), percent(record["ece"][-1]))
        table.add_row(score["view"], score["inference"] or NONE, *figures, *errors)
    return table


def other_kinds_table(result: Result) -> Table | None:
    """How well one run's uncertainty tells inputs of other kinds from the stream's own; None where none were at hand."""
    measured = [(score, score["uncertainty"]["other"]) for score in result["scores"] if _others(score)]
    if not measured:
        return None
    kinds = list(dict.fromkeys(kind for _, others in measured for kind in others))
    table = plain_table("inputs of another kind told from test examples, AUROC (50 is chance)", gap=0)
    _add_columns(table, (f"{kind}\n{name}" for kind in kinds for name in ("total", "epistemic")))
    for score, others in measured:
        figures = (others.get(kind, {}).get(name) for kind in kinds for name in ("total", "epistemic"))
        table.add_row(score["view"], score["inference"] or NONE, *map(percent, figures))
    return table


def _others(score: dict[str, Any]) -> bool:
    return bool((score.get("uncertainty") or {}).get("other"))


def _add_columns(table: Table, headings: Iterable[str]) -> None:
    """View and inference mode, then figures."""
    table.add_column("view")
    table.add_column("inference")
    for heading in headings:
        table.add_column(heading, justify="right")


def facts_of(result: Result) -> str:
    """Cost and sizes of one run, in lines."""
    cost, threads = result["cost"], result["settings"]["threads"]
    seconds = {name: f"{value:.1f}" for name, value in cost["cpu_seconds"].items()}
    stored = {name: size(count) for name, count in (cost["stored_bytes"] or {}).items()}
    lines = [
        f"seed {result['seed']}, batches of {result['batch_size']}, {threads} thread{'s' * (threads != 1)}",
        f"CPU seconds   {sum(cost['cpu_seconds'].values()):.1f}: {parts(seconds)}",
        f"stored        {stored_size(stored_in_all(result))}{f': {parts(stored)}' if stored else ''}",
        *([f"held          {size(held)} at the most while learning"] if (held := cost.get("held_bytes")) else []),
        f"parameters    {parts({name: f'{count:,}' for name, count in result['parameters'].items()})}",
        f"peak memory   {size(cost['peak_rss_bytes'])}",
    ]
    return "\n".join(lines)


def _notes(rows: list[Row]) -> list[str]:
    """What was set otherwise than the defaults, once for each: the table refers to these by number."""
    return list(dict.fromkeys(parts(row.changed) for row in rows if row.changed))
