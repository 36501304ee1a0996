"""RESULTS.md: what became of the paper's figures, ours as differences from them, on two screens."""

from typing import Any

from tools.pages.markdown import table, template
from tools.pages.records import (
    A,
    Asked,
    Record,
    asked,
    changed_stream,
    entries,
    paper_figure,
    paper_of,
    read_records,
    row_of,
    same_network,
)

from merlin_cl.paper.experiment import experiment, view_for
from merlin_cl.paper.published import Published, headline
from merlin_cl.paper.verdict import verdict
from merlin_cl.report.summary import Row
from merlin_cl.report.text import NONE, stream_title
from merlin_cl.streams.registry import stream_settings

STREAMS = experiment("main").streams
SMALL = experiment("small-backbone").streams
FURTHER = (*experiment("20-tasks").streams, *experiment("additional").streams)
RIVALS = ("single", "ewc", "gem", "icarl", "gss", "cn-dpm")
TABLES = ("main", "20-tasks", "additional")
NOT_RUN = "not run"
CODE = [
    stream
    for line in experiment("main").lines
    if line.settings.get("reading") == "code"
    for stream in STREAMS
    if stream not in line.skip
]
"""Streams that the paper's code, as its authors published it, is for."""
MERLIN = ("stream", "paper:", "recipe as printed", "by its authors' code", "our MERLIN", "exemplars alone")


def pages() -> dict[str, str]:
    """Return the scoreboard."""
    return {"RESULTS.md": scoreboard(read_records())}


def scoreboard(records: list[Record]) -> str:
    """Return RESULTS.md as some records make it."""
    rows = [entry.row for entry in entries(records)]
    recipe = sorted((one for one in asked() if one.method == "merlin-paper"), key=lambda one: one.inference == "aware")
    rivals = []
    for streams, methods in ((STREAMS, RIVALS), (FURTHER, RIVALS[:-1])):
        lines = [(f"`{method}`", *(_rival(method, stream, rows) for stream in streams)) for method in methods]
        rivals.append(table(("method", *map(_linked, streams)), lines))
    small = [
        (f"`{method}`", *(_on_merlins_network(method, stream, rows) for stream in SMALL)) for method in RIVALS[:-1]
    ]
    return template(
        "scoreboard.md",
        merlin=table(MERLIN, [_merlin(one, rows) for one in recipe]),
        rivals="\n\n".join(rivals),
        small=table(("method", *map(_linked, SMALL)), small),
    )


def _linked(stream: str) -> str:
    return f"[{stream_title(stream)}](docs/results/{stream}.md)"


def _merlin(one: Asked, rows: list[Row]) -> tuple[str, ...]:
    told, row = one.inference == "aware", row_of(rows, one.stream, "merlin-paper", one.inference)
    of_code = [other for other in rows if other.changed.get("reading") == "code"]
    code = row_of(of_code, one.stream, "merlin-paper", one.inference)
    ours = row_of(rows, one.stream, "merlin", "aware" if told else "marginal")
    control = row_of(rows, one.stream, "gdumb-ensemble", None, view_for(one.stream, one.inference))
    name = f"{_linked(one.stream)}{', told the task' if told else ''}"
    by_code = _beside(code, one.paper) if one.stream in CODE else NONE
    beside = [_beside(other, one.paper) for other in (row, ours, control)]
    return (name, paper_figure(one.paper), beside[0], by_code, *beside[1:])


def _rival(method: str, stream: str, rows: list[Row]) -> str:
    paper = headline(method, stream, view_for(stream, None), None)
    if paper is None:
        return NONE
    own = next(table for table in TABLES if stream in experiment(table).streams)
    row = row_of(rows, stream, method, None, settings=_settings(own, method, stream))
    return f"{paper.mean:g}: {_beside(row, paper)}"


def _on_merlins_network(method: str, stream: str, rows: list[Row]) -> str:
    paper = same_network(method, stream)
    assert paper is not None
    row = row_of(rows, stream, method, None, settings=_settings("small-backbone", method, stream))
    return f"{paper.mean:g}: {_beside(row, paper, known=True)}"


def _settings(table: str, method: str, stream: str) -> dict[str, Any]:
    """Return what a table of the paper has otherwise than we have by default."""
    info = stream_settings(stream)().info()
    lines = [line for line in experiment(table).lines if line.method == method]
    return {**lines[0].settings, **lines[0].besides(info)} if lines else {}


def _beside(row: Row | None, paper: Published, known: bool = False) -> str:
    """Return how far a row is from the paper's figure, over how many seeds, and whether that counts as reached; `known`: from
    that one, whatever the row is usually set beside."""
    if row is None or row.mean[A] is None:
        return NOT_RUN
    paper = paper if known else paper_of(row) or paper
    same = "= " if verdict(row.mean[A], row.half_width[A], paper) == "reproduced" else ""
    difference = f"{row.mean[A] - paper.mean:+.1f}".replace("-", "−")
    return f"{same}{difference} ({len(row.seeds)}){'†' if changed_stream(row) else ''}"
