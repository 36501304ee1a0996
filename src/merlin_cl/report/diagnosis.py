"""What a run forgot, task by task, beside the exemplar-only control, and what the learner says of itself."""

from typing import Any

from rich.table import Table

from merlin_cl.errors import MerlinError
from merlin_cl.learners.registry import method_settings
from merlin_cl.metrics import forgetting_by_task
from merlin_cl.report.columns import Column, fitting, plain_table, table_of
from merlin_cl.report.summary import Result
from merlin_cl.report.text import NONE, PLAIN_WIDTH, percent, signed

CONTROL = "gdumb-ensemble"


def is_control_of(result: Result, other: Result) -> bool:
    """Whether `other` is the exemplar-only control of `result`: same stream, data and seed, as many exemplars chosen alike."""

    def setting(of: Result) -> list[Any]:
        return [of["settings"]["stream"], of["source"], of["seed"]]

    budgets = {result["exemplars"], other["exemplars"]} - {None}
    choices = {exemplar_choice(of) for of in (result, other)} - {None}
    same = setting(result) == setting(other) and len(budgets) == 1 and len(choices) == 1
    return other["method"] == CONTROL and same


def exemplar_choice(result: Result) -> str | None:
    """How exemplars were chosen: as set, or as the method always does; None where it keeps none or does not say."""
    try:
        always = getattr(method_settings(result["method"]), "exemplar_choice", None)
    except MerlinError:  # a method of another package that is not installed here
        always = None
    chosen: str | None = result["settings"]["method"].get("exemplar_choice", always)
    return chosen


def diagnose(result: Result, control: Result | None) -> dict[str, Any]:
    """The diagnosis as plain values: for every score, one row a task."""
    beside = {(score["view"]): score for score in control["scores"]} if control else {}
    return {
        "scores": [
            {
                "view": score["view"],
                "inference": score["inference"],
                "tasks": _by_task(score, beside.get(score["view"])),
            }
            for score in result["scores"]
        ],
        "probes": [
            {"task": task, "when": when, **values}
            for task in range(result["tasks"])
            for when in ("learned", "final")
            if (values := result["diagnosis"][when][task]) is not None
        ],
        "stored_bytes": result["cost"]["stored_bytes"] or {},
        "control_stored_bytes": control["cost"]["stored_bytes"] or {} if control else None,
    }


def forgetting_table(score: dict[str, Any]) -> Table:
    """One row a task for one view and inference mode."""
    table = plain_table(f"{score['view']}, {score['inference']}" if score["inference"] else score["view"])
    controlled = any(row["control"] is not None for row in score["tasks"])
    headings = ["task", "learned", "at the end", "forgotten"] + ([CONTROL, "above it"] if controlled else [])
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in score["tasks"]:
        beside = [percent(row["control"]), signed(row["above_control"])] if controlled else []
        table.add_row(
            str(row["task"] + 1), percent(row["learned"]), percent(row["final"]), signed(row["forgotten"]), *beside
        )
    return table


def probes_table(probes: list[dict[str, Any]], width: int = PLAIN_WIDTH) -> Table:
    """What the learner measured of itself for every task, when just learned and at the end; as many columns as fit a width."""
    names = list(dict.fromkeys(name for probe in probes for name in probe if name not in ("task", "when")))
    columns = [
        Column[dict[str, Any]]("task", lambda probe: str(probe["task"] + 1)),
        Column[dict[str, Any]]("when", lambda probe: probe["when"], left=True),
        *(_probed(name, worth=len(names) - place) for place, name in enumerate(names)),
    ]
    return table_of(fitting(columns, probes, width), probes, "measured by the learner itself")


def _probed(name: str, worth: int) -> Column[dict[str, Any]]:
    def cell(probe: dict[str, Any]) -> str:
        return NONE if probe.get(name) is None else f"{probe[name]:.4g}"

    return Column(name.replace("_", "\n"), cell, worth)


def _by_task(score: dict[str, Any], beside: dict[str, Any] | None) -> list[dict[str, Any]]:
    matrix = score["matrix"]
    forgotten = [*forgetting_by_task(matrix), None]  # the last task has had no time to be forgotten
    rows = []
    for task, last in enumerate(matrix[-1]):
        control = beside["matrix"][-1][task] if beside else None
        rows.append(
            {
                "task": task,
                "learned": matrix[task][task],
                "final": last,
                "forgotten": forgotten[task],
                "control": control,
                "above_control": None if control is None else last - control,
            }
        )
    return rows
