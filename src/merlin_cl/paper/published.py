"""The numbers printed in the paper's tables, looked up by name; `tables.json` has remarks where they disagree."""

import functools
import json
from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean
from typing import Any

from merlin_cl.errors import unknown
from merlin_cl.protocol import Inference, View

HEADLINES: tuple[tuple[str, dict[str, int]], ...] = (
    ("main", {}),
    ("cndpm-prior", {}),
    ("additional", {}),
    ("20-tasks", {"tasks": 20, "classes_per_task": 5}),
)
"""Where methods are found as they are, not as variants of themselves: the main table first, then the appendix."""


PAPER_NAMES = {"merlin-paper": "merlin"}
"""What the paper calls a method that has another name here."""


@dataclass(frozen=True)
class Published:
    """One cell of a table: mean and standard deviation as printed, and where."""

    mean: float
    std: float | None
    where: str


def table_ids() -> list[str]:
    """The names of the paper's tables, in its order."""
    return [table["id"] for table in _tables()]


def published(table: str, method: str, benchmark: str, metric: str, **param: Any) -> Published | None:
    """The printed number, or None where the paper has none; `param` names the column of a table with several.

    >>> published("main", "merlin", "split-mnist", "A")
    Published(mean=90.7, std=0.8, where='Table 1')
    >>> published("ensemble", "merlin-paper", "split-mnist", "A", models=1).mean
    86.6
    >>> published("main", "icarl", "permuted-mnist", "A") is None
    True
    """
    if table not in table_ids():
        raise unknown("table of the paper", table, table_ids())
    record = next(entry for entry in _tables() if entry["id"] == table)
    wanted = (PAPER_NAMES.get(method, method), benchmark, metric, param)
    for row in record["rows"]:
        if (row["method"], row["benchmark"], row["metric"], row.get("param", {})) == wanted:
            return None if row["mean"] is None else Published(row["mean"], row["std"], record["where"])
    return None


def headline(method: str, benchmark: str, view: View, inference: Inference | None) -> Published | None:
    """The paper's average accuracy to set beside ours: same method, same view, the task known or unknown as in ours.

    Without the task the paper answers by `aggregate`; `marginal` answers the same question, so it has the same number.

    >>> headline("merlin", "split-mnist", "class-incremental", "aggregate").mean
    90.7
    >>> headline("cn-dpm", "split-mnist", "class-incremental", None).where
    'Appendix I and J, Table 14'
    >>> headline("merlin", "split-mnist", "task-masked", "aggregate") is None
    True
    """
    if inference == "aware":
        return published("variants", method, benchmark, "A", variant="task-aware")
    if view != view_of(benchmark):
        return None
    candidates = (published(table, method, benchmark, "A", **param) for table, param in HEADLINES)
    return next((number for number in candidates if number is not None), None)


def first_tasks(method: str, benchmark: str, tasks: int) -> Published | None:
    """The paper's average accuracy over the first tasks of a benchmark, from its task-wise tables; as in its own main table, the
    deviation is the mean of the task-wise ones.

    >>> first_tasks("merlin", "split-cifar10", 5).mean - published("main", "merlin", "split-cifar10", "A").mean < 0.1
    True
    """
    table = f"taskwise-{benchmark}"
    if table not in table_ids():
        return None
    accuracies = [published(table, method, benchmark, "task-accuracy", task=task + 1) for task in range(tasks)]
    known = [cell for cell in accuracies if cell is not None]
    if not known or len(known) < tasks:
        return None
    middle, deviation = fmean(cell.mean for cell in known), fmean(cell.std or 0.0 for cell in known)
    return Published(round(middle, 2), round(deviation, 2), f"{known[0].where}, first {tasks} tasks")


def view_of(benchmark: str) -> View:
    """The view under which the paper scored a benchmark (read off its tables, not said in its text)."""
    if benchmark == "split-mnist":
        return "class-incremental"
    return "domain-incremental" if benchmark == "permuted-mnist" else "task-masked"


@functools.cache
def _tables() -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = json.loads(files(__package__).joinpath("tables.json").read_text("utf-8"))["tables"]
    return tables
