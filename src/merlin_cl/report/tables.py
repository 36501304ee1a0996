"""Tables for the terminal. Every row names what it is: stream, view, method, inference mode, budget, seeds."""

from collections.abc import Callable, Iterable
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from merlin_cl.report.summary import Contest, Result, Row, stored_in_all
from merlin_cl.report.text import (
    NONE,
    nats,
    parts,
    percent,
    probability,
    signed,
    size,
    stored_size,
    with_deviation,
    with_interval,
)
from merlin_cl.runs.calibration import COVERED

SHOWN_COVERAGES = (20, 50, 80, 100)
"""Shares of the answers in percent, the surest first, whose error is shown."""


def scores_table(rows: list[Row]) -> Table:
    """One row for each experiment, view and inference mode; mean and standard deviation over seeds. One run takes 80 columns."""
    table = _table(gap=0)
    table.add_column("stream\nview", no_wrap=True)
    table.add_column("method\ninference\nseeds", no_wrap=True)
    for heading in ("average\nincre-\nmental", "paper", "final", "forget-\nting", "NLL\nECE"):
        table.add_column(heading, justify="right")
    table.add_column("exemplars\nstored\nupdates", justify="right", no_wrap=True)
    notes = _notes(rows)
    for row in rows:
        preset = f" ({row.preset})" if row.preset != "default" else ""
        table.add_row(
            escape(f"{row.stream}{_mark(row, notes)}\n{row.view}"),
            f"{row.method}{preset}\n{row.inference or NONE}\n{_seeds(row)}",
            with_interval(
                *(figures["average_incremental_accuracy"] for figures in (row.mean, row.std, row.half_width))
            ),
            with_deviation(row.paper.mean, row.paper.std) if row.paper else NONE,
            with_deviation(row.mean["final_accuracy"], row.std["final_accuracy"]),
            with_deviation(row.mean["forgetting"], row.std["forgetting"]),
            f"{_with_std(row, 'nll', nats)}\n{_with_std(row, 'ece', percent)}",
            "\n".join(
                (_or_none(row.exemplars), stored_size(row.stored_bytes), _or_none(row.updates_per_batch or None))
            ),
        )
    return table


def _or_none(value: int | None) -> str:
    return NONE if value is None else str(value)


def _seeds(row: Row) -> str:
    return f"{len(row.seeds)} seed{'s' * (len(row.seeds) > 1)}"


def _with_std(row: Row, name: str, shown: Callable[[float | None], str]) -> str:
    """A figure and its deviation over seeds in one line."""
    std = row.std[name]
    return shown(row.mean[name]) if std is None else f"{shown(row.mean[name])} ±\N{NO-BREAK SPACE}{shown(std)}"


def scores_caption(rows: list[Row]) -> str:
    """What a reader has to know beside the table."""
    lines = [
        "average incremental: mean over k of the accuracy on tasks 1..k after task k; final: after the last.",
        "stored: all that is kept between tasks; updates: gradient steps on each arriving batch.",
    ]
    if any(row.mean["nll"] is not None for row in rows):
        lines.append(
            "NLL: negative log-likelihood in nats; ECE: calibration error in percent; both after the last task."
        )
    if any(len(row.seeds) > 1 for row in rows):
        lines.append("± is the standard deviation over seeds (n - 1); in brackets the 95 % t-interval for the mean.")
    if any(row.paper for row in rows):
        lines.append("paper: its number for five seeds (its ± is mostly the mean of task-wise deviations).")
    lines += [f"[{number}] {note}" for number, note in enumerate(_notes(rows), start=1)]
    lines += [
        f"data of {stream}: {source}" for stream, source in dict.fromkeys((row.stream, row.source) for row in rows)
    ]
    return escape("\n".join(lines))


def contests_table(contests: list[Contest], rows: list[Row]) -> Table:
    """Each row beside the best of its stream and view, seed by seed; `rows` are those of the table it follows."""
    notes = _notes(rows)
    table = _table("average incremental accuracy beside the best, seed by seed (paired t-test)")
    for heading in ("stream, view", "method, inference", "the best"):
        table.add_column(heading, overflow="fold")
    for heading in ("difference", "95 % interval", "p", "seeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for contest in contests:
        outcome = contest.outcome
        span = outcome.half_width or 0.0
        table.add_row(
            f"{contest.row.stream}, {contest.row.view}",
            _contestant(contest.row, notes),
            _contestant(contest.best, notes),
            signed(outcome.difference),
            f"{signed(outcome.difference - span)} to {signed(outcome.difference + span)}",
            probability(outcome.p_value),
            str(outcome.seeds),
        )
    return table


def _contestant(row: Row, notes: list[str]) -> str:
    preset = f" ({row.preset})" if row.preset != "default" else ""
    answering = f", {row.inference}" if row.inference else ""
    return escape(f"{row.method}{preset}{answering}{_mark(row, notes)}")


def _mark(row: Row, notes: list[str]) -> str:
    """The number of the note that says what was set otherwise than the defaults."""
    return f" [{notes.index(parts(row.changed)) + 1}]" if row.changed else ""


def curve_table(result: Result) -> Table:
    """The learning curve of one run: mean accuracy on the tasks seen, after each task."""
    table = _table("mean accuracy on the tasks seen, after task")
    _add_columns(table, (str(task + 1) for task in range(result["tasks"])))
    for score in result["scores"]:
        table.add_row(score["view"], score["inference"] or NONE, *map(percent, score["learning_curve"]))
    return table


def calibration_table(result: Result) -> Table | None:
    """What the probabilities of one run were worth at the end; None where that was not measured."""
    measured = [(score, score["uncertainty"]) for score in result["scores"] if score.get("uncertainty")]
    if not measured:
        return None
    table = _table("probabilities at the end, error of the surest 20 to 100 % of the answers", gap=0)
    _add_columns(table, ("NLL", "Brier", "ECE", *(f"{share} %" for share in SHOWN_COVERAGES), "area"))
    for score, found in measured:
        risks = [found["risks"][COVERED.index(share)] for share in SHOWN_COVERAGES] if "risks" in found else []
        errors = (
            [*map(percent, risks), percent(found.get("risk_area"))] if risks else [NONE] * (len(SHOWN_COVERAGES) + 1)
        )
        figures = (nats(found["nll"][-1]), nats(found["brier"][-1]), percent(found["ece"][-1]))
        table.add_row(score["view"], score["inference"] or NONE, *figures, *errors)
    return table


def other_kinds_table(result: Result) -> Table | None:
    """How well one run's uncertainty tells inputs of other kinds from the stream's own; None where none were at hand."""
    measured = [(score, score["uncertainty"]["other"]) for score in result["scores"] if _others(score)]
    if not measured:
        return None
    kinds = list(dict.fromkeys(kind for _, others in measured for kind in others))
    table = _table("inputs of another kind told from test examples, AUROC (50 is chance)", gap=0)
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
    cost = result["cost"]
    seconds = {name: f"{value:.1f}" for name, value in cost["cpu_seconds"].items()}
    stored = {name: size(count) for name, count in (cost["stored_bytes"] or {}).items()}
    lines = [
        f"seed {result['seed']}, batches of {result['batch_size']}, {result['settings']['threads']} thread(s)",
        f"CPU seconds   {sum(cost['cpu_seconds'].values()):.1f}: {parts(seconds)}",
        f"stored        {stored_size(stored_in_all(result))}{f': {parts(stored)}' if stored else ''}",
        f"parameters    {parts({name: f'{count:,}' for name, count in result['parameters'].items()})}",
        f"peak memory   {size(cost['peak_rss_bytes'])}",
    ]
    return "\n".join(lines)


def listing_table(entries: Iterable[dict[str, Any]]) -> Table:
    """Runs in a folder: how far each has come, and its average incremental accuracies."""
    table = _table()
    table.add_column("run", overflow="fold")
    table.add_column("state")
    table.add_column("average incremental accuracy", overflow="fold")
    for entry in entries:
        by_view: dict[str, list[str]] = {}
        for score in entry["scores"]:
            value = percent(score["average_incremental_accuracy"])
            by_view.setdefault(score["view"], []).append(f"{score['inference'] or ''} {value}".strip())
        table.add_row(
            entry["run"], entry["state"], "\n".join(f"{view} {', '.join(values)}" for view, values in by_view.items())
        )
    return table


def _notes(rows: list[Row]) -> list[str]:
    """What was set otherwise than the defaults, once for each: the table refers to these by number."""
    return list(dict.fromkeys(parts(row.changed) for row in rows if row.changed))


def _table(title: str | None = None, gap: int = 1) -> Table:
    """A table with so many columns more than one between its columns."""
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
