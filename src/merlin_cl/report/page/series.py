"""One line of every figure: an experiment under one view and inference mode, as plain values."""

from __future__ import annotations

from typing import Any

from merlin_cl.metrics import forgetting_by_task, paired
from merlin_cl.paper.published import published, table_ids
from merlin_cl.report.page.estimates import estimate, estimate_or_none, rounded
from merlin_cl.report.page.experiments import Experiment, StreamGroup
from merlin_cl.report.summary import Row

AVERAGE = "average_incremental_accuracy"


def series_of(group: StreamGroup, experiment: Experiment, place: int) -> dict[str, Any]:
    """All that figures and the headline table show of one row of an experiment."""
    row = experiment.rows[place]
    scores = [result["scores"][place] for result in experiment.results]
    control = group.control_of(experiment) if experiment.finished else None
    return {
        "label": experiment.label,
        "method": row.method,
        "view": row.view,
        "inference": row.inference,
        "seeds": row.seeds,
        "tasks": experiment.tasks,
        "finished": experiment.finished,
        "exemplars": row.exemplars,
        "updates": row.updates_per_batch,
        "stored": row.stored_bytes if experiment.finished else None,
        "seconds": _seconds(experiment),
        "average": estimate(list(row.values[AVERAGE].values())),
        "final": estimate(list(row.values["final_accuracy"].values())),
        "forgetting": estimate_or_none(list(row.values["forgetting"].values())),
        "nll": estimate_or_none(list(row.values["nll"].values())),
        "ece": estimate_or_none(list(row.values["ece"].values())),
        "curve": [estimate(values) for values in zip(*(score["learning_curve"] for score in scores), strict=True)],
        "each": [[rounded(value) for value in score["learning_curve"]] for score in scores],
        "matrix": _mean_matrix([score["matrix"] for score in scores]),
        "forgotten": [
            estimate(values) for values in zip(*(forgetting_by_task(score["matrix"]) for score in scores), strict=True)
        ],
        "paper": None
        if row.paper is None
        else {"mean": row.paper.mean, "std": row.paper.std, "where": row.paper.where},
        "paper_curve": _paper_curve(row, experiment.tasks),
        "above_control": None if control is None else _above(row, control),
    }


def _seconds(experiment: Experiment) -> float | None:
    """CPU seconds of a run, all kinds together; the mean over seeds."""
    if not experiment.finished:
        return None
    totals = [sum(result["cost"]["cpu_seconds"].values()) for result in experiment.results]
    return rounded(sum(totals) / len(totals))


def _mean_matrix(matrices: list[list[list[float | None]]]) -> list[list[float | None]]:
    """The mean over seeds, entry by entry; None above the diagonal."""
    size = len(matrices[0])
    mean: list[list[float | None]] = []
    for k in range(size):
        columns = [[matrix[k][j] for matrix in matrices] for j in range(k + 1)]
        known = [[value for value in values if value is not None] for values in columns]
        mean.append([rounded(sum(values) / len(values)) for values in known] + [None] * (size - k - 1))
    return mean


def _paper_curve(row: Row, tasks: int) -> list[float] | None:
    """The paper's task-wise accuracies, where its figure for the row is the mean of these."""
    table = f"taskwise-{row.stream}"
    if row.paper is None or row.inference == "aware" or table not in table_ids():
        return None
    found = [published(table, row.method, row.stream, "task-accuracy", task=task + 1) for task in range(tasks)]
    return [value.mean for value in found if value is not None] if all(found) else None


def _above(row: Row, control: Experiment) -> dict[str, Any] | None:
    """What the row has above the exemplar-only control under the same view, seed by seed."""
    beside = next((other for other in control.rows if other.view == row.view), None)
    outcome = None if beside is None else paired(row.values[AVERAGE], beside.values[AVERAGE])
    if outcome is None:
        return None
    half = outcome.half_width
    return {
        "mean": rounded(outcome.difference),
        "low": None if half is None else rounded(outcome.difference - half),
        "high": None if half is None else rounded(outcome.difference + half),
        "p": outcome.p_value,
        "seeds": outcome.seeds,
    }
