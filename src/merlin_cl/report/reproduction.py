"""A table of the paper as it came out here: ours beside the paper's, for the terminal and as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import itertools
import textwrap
from dataclasses import dataclass, field
from typing import Any

from rich.markup import escape
from rich.table import Table

from merlin_cl.metrics import Comparison
from merlin_cl.paper.cells import SIZES, Cell, comparisons
from merlin_cl.paper.experiment import Experiment
from merlin_cl.report.columns import Column, fitting, table_of
from merlin_cl.report.text import NONE, PLAIN_WIDTH, ends, probability, signed

HEADINGS = (
    *("stream, view", "method", "measure", "paper", "ours", "difference", "seeds", "mark", "reason"),
    "our MERLIN",
)
REASON_WIDTH = 28
"""Columns that words, such as the reason of a mark, have on a terminal."""
ROW_WORTH = {
    **dict.fromkeys(("stream, view", "method", "measure", "paper", "ours"), 0),
    **{"mark": 6, "difference": 5, "our MERLIN": 4, "seeds": 3, "reason": 1},
}
COMPARED = ("stream, view", "method", "compared with", "difference", "95 % interval", "p", "seeds")
COMPARED_WORTH = {**dict.fromkeys(COMPARED[:4], 0), "95 % interval": 3, "p": 2, "seeds": 1}
"""How long a column stays on a terminal that has no room for all; see `columns.Column`."""
MEANING = (
    "A: average incremental accuracy, the mean over k of the accuracy on tasks 1..k after task k; F: forgetting; in percent. "
    "± is the standard deviation over seeds (n - 1), in the paper mostly the mean of task-wise deviations. "
    "difference: ours minus the paper's; mark: reproduced where it is no more than the paper's ± or half of our 95 % interval. "
    "our MERLIN: the method `merlin` of this package on the same stream, over its seeds, told the task where the row is."
)


@dataclass(frozen=True)
class Reproduction:
    """What came of a table or figure."""

    experiment: Experiment
    cells: list[Cell]
    label: str = ""
    """What has to be said of all numbers; empty for the whole thing."""
    failures: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its name, where it is in the paper and what it shows."""
        return f"{self.experiment.name} ({self.experiment.where}): {self.experiment.title}"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Ours beside the paper's, as text. Our MERLIN is a column where the paper's recipe is a row."""
        beside = {id(cell): _our_merlin(cell, self.cells) for cell in self.cells}
        shown = {id(cell) for cell in beside.values() if cell is not None}
        return [_row(cell, beside[id(cell)]) for cell in self.cells if id(cell) not in shown]

    @property
    def compared(self) -> list[tuple[str, ...]]:
        """The reference beside the other lines over the same seeds, as text."""
        return [_compared(*outcome) for outcome in comparisons(self.cells)]

    @property
    def remarks(self) -> list[str]:
        """What a reader has to know beside the table."""
        reasons = dict.fromkeys(f"Not run, {cell.stream}: {cell.missing}" for cell in self.cells if cell.missing)
        failed = [f"Failed: {failure}" for failure in self.failures]
        return [*([self.label] if self.label else []), MEANING, *self.experiment.notes, *reasons, *failed]


def terminal_tables(reproduction: Reproduction, width: int = PLAIN_WIDTH) -> list[Table]:
    """For the terminal: a table for every stream and view, with the columns that a width has room for."""
    tables = _tables(HEADINGS, reproduction.rows, ROW_WORTH, width)
    tables += _tables(
        COMPARED, reproduction.compared, COMPARED_WORTH, width, "the same seeds compared (t-test, p by Holm), A"
    )
    return tables


def _tables(
    headings: tuple[str, ...], rows: list[tuple[str, ...]], worth: dict[str, int], width: int, about: str = ""
) -> list[Table]:
    """Rows of one stream and view, which the first cell names, under that name."""
    made = []
    for where, several in itertools.groupby(rows, lambda row: row[0]):
        items = list(several)
        columns = [_column(name, place, worth[name]) for place, name in enumerate(headings) if place]
        filled = [column for column in columns if any(column.cell(row) not in ("", NONE) for row in items)]
        title = escape(", ".join(part for part in (where, about) if part))
        made.append(table_of(fitting(filled, items, width), items, title))
    return made


def _column(name: str, place: int, worth: int) -> Column[tuple[str, ...]]:
    words = name in ("method", "measure", "mark", "reason", "compared with")

    def cell(row: tuple[str, ...]) -> str:
        return "\n".join(textwrap.wrap(row[place], REASON_WIDTH)) if words else row[place]

    return Column(name, cell, worth, left=words)


def in_words(reproduction: Reproduction) -> str:
    """How many of the paper's figures came out, in a sentence."""
    marks = [cell.mark for cell in reproduction.cells if cell.mark]
    counts = {mark: marks.count(mark) for mark in ("reproduced", "exceeded", "not reached", "not run") if mark in marks}
    if not counts:
        return f"In words: the paper has no figure to set beside these of {reproduction.experiment.name}."
    told = ", ".join(f"{count} {mark}" for mark, count in counts.items())
    figures = "1 figure" if len(marks) == 1 else f"{len(marks)} figures"
    caution = " It is less than the paper did, and no reproduction." if reproduction.label else ""
    return f"In words: of {figures} that the paper has for {reproduction.experiment.name}, {told}.{caution}"


def as_csv(reproduction: Reproduction) -> str:
    """One line a cell, numbers unrounded."""
    text = io.StringIO()
    records = [_record(reproduction, cell) for cell in reproduction.cells]
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_markdown(reproduction: Reproduction) -> str:
    """A page."""
    parts = [f"# {reproduction.title}", *([f"**{reproduction.label}**"] if reproduction.label else [])]
    parts.append(_markdown_table(HEADINGS, reproduction.rows))
    if reproduction.compared:
        parts += [
            "The same seeds compared (paired t-test, p by Holm), A:",
            _markdown_table(COMPARED, reproduction.compared),
        ]
    rest = [remark for remark in reproduction.remarks if remark != reproduction.label]
    return "\n\n".join([*parts, "\n".join(f"- {remark}" for remark in rest)]) + "\n"


def as_latex(reproduction: Reproduction) -> str:
    """Two tabulars (booktabs), remarks as comments."""
    parts = ["\n".join(f"% {line}" for line in [reproduction.title, *reproduction.remarks])]
    parts.append(_latex_table(HEADINGS, reproduction.rows))
    if reproduction.compared:
        parts.append(_latex_table(COMPARED, reproduction.compared))
    return "\n\n".join(parts) + "\n"


def _row(cell: Cell, merlin: Cell | None) -> tuple[str, ...]:
    number = _count if cell.measure in SIZES else _score
    paper = NONE if cell.paper is None else _with_deviation(number(cell.paper.mean), cell.paper.std)
    difference = NONE if cell.difference is None else number(cell.difference, "+")
    return (
        *(_where(cell), _method(cell), cell.measure, paper, _ours(cell), difference, str(len(cell.values))),
        *(cell.mark or NONE, cell.reason),
        NONE if merlin is None else _ours(merlin),
    )


def _ours(cell: Cell) -> str:
    number = _count if cell.measure in SIZES else _score
    return "not run" if cell.mean is None else _with_deviation(number(cell.mean), cell.std)


def _our_merlin(cell: Cell, cells: list[Cell]) -> Cell | None:
    """The cell of our MERLIN that belongs beside one of the recipe: set alike, or as it is if it has no such setting."""
    if cell.line.method != "merlin-paper":
        return None
    wanted = (cell.stream, cell.measure, cell.inference == "aware")
    ours = [
        other
        for other in cells
        if other.line.method == "merlin" and (other.stream, other.measure, other.inference == "aware") == wanted
    ]
    alike = [other for other in ours if other.line.param == cell.line.param]
    return next(iter(alike or [other for other in ours if not other.line.param]), None)


def _compared(reference: Cell, cell: Cell, outcome: Comparison) -> tuple[str, ...]:
    return (
        _where(cell),
        _method(reference),
        _method(cell),
        signed(outcome.difference),
        ends(outcome.interval, signed),
        probability(outcome.p_value),
        str(outcome.seeds),
    )


def _record(reproduction: Reproduction, cell: Cell) -> dict[str, Any]:
    low, high = cell.interval or (None, None)
    return {
        "experiment": reproduction.experiment.name,
        "where": cell.paper.where if cell.paper else reproduction.experiment.where,
        "stream": cell.stream,
        "view": cell.view,
        "method": cell.line.method,
        "line": cell.line.title,
        "inference": cell.inference,
        "measure": cell.measure,
        "paper": cell.paper.mean if cell.paper else None,
        "paper_std": cell.paper.std if cell.paper else None,
        "ours": cell.mean,
        "std": cell.std,
        "low": low,
        "high": high,
        "seeds": len(cell.values),
        "difference": cell.difference,
        "mark": cell.mark,
        "reason": cell.reason,
        "remark": reproduction.label,
    }


def _where(cell: Cell) -> str:
    return cell.stream if cell.view is None else f"{cell.stream}, {cell.view}"


def _method(cell: Cell) -> str:
    return cell.line.title if cell.inference is None else f"{cell.line.title}, {cell.inference}"


def _with_deviation(middle: str, deviation: float | None) -> str:
    return middle if deviation is None else f"{middle} ± {deviation:.2f}"


def _score(value: float, sign: str = "") -> str:
    return f"{value:{sign}.2f}"


def _count(value: float, sign: str = "") -> str:
    return f"{value:{sign},.0f}"


def _markdown_table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    rule = "|" + "|".join("---" if number < 3 else "---:" for number in range(len(headings))) + "|"
    return "\n".join([f"| {' | '.join(headings)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def _latex_table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    columns = "".join("l" if number < 3 else "r" for number in range(len(headings)))
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in (headings, *rows)]
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])


def _latex(text: str) -> str:
    for letter in "\\%&#_":
        text = text.replace(letter, f"\\{letter}" if letter != "\\" else r"\textbackslash ")
    return text.replace("±", r"$\pm$").replace(NONE, "--")
