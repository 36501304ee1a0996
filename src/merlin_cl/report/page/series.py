"""One line of every figure: an experiment under one view and inference mode, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merlin_cl.metrics import BOUNDS, forgetting_by_task, holm, paired
from merlin_cl.paper.published import published, table_ids
from merlin_cl.report.page.estimates import estimate, estimate_or_none, rounded
from merlin_cl.report.page.experiments import AVERAGE, RunGroup, StreamGroup
from merlin_cl.report.ranking import Place
from merlin_cl.report.summary import Row, is_ceiling


def series_of(
    group: StreamGroup, experiment: RunGroup, place: int, ranked: Mapping[int, Place] | None = None
) -> dict[str, Any]:
    """All that figures and the headline table show of one row of an experiment; `ranked` has its place by the row's id."""
    row = experiment.rows[place]
    placed = (ranked or {}).get(id(row))
    scores = [result["scores"][place] for result in experiment.results]
    compared = experiment.finished and not is_ceiling(row.method)
    control = group.control_of(experiment) if compared else None
    return {
        "label": experiment.label,
        "method": row.method,
        "view": row.view,
        "inference": row.inference,
        "rank": placed.rank if placed else None,
        "competitors": placed.competitors if placed else 0,
        "apart": placed.apart if placed else "unfinished",
        "tied": placed.tied if placed else False,
        "seeds": row.seeds,
        "tasks": experiment.tasks,
        "tasks_in_all": experiment.tasks_in_all,
        "finished": experiment.finished,
        "exemplars": row.exemplars,
        "updates": row.updates_per_batch,
        "stored": row.stored_bytes if experiment.finished else None,
        "seconds": _seconds(experiment),
        "average": estimate(list(row.values[AVERAGE].values())),
        "final": estimate(list(row.values["final_accuracy"].values())),
        **{
            name: estimate_or_none(list(row.values[name].values()), BOUNDS[name])
            for name in ("forgetting", "nll", "ece")
        },
        "curve": [estimate(values) for values in zip(*(score["learning_curve"] for score in scores), strict=True)],
        "each": [[rounded(value) for value in score["learning_curve"]] for score in scores],
        "matrix": _mean_matrix([score["matrix"] for score in scores]),
        "forgotten": [
            estimate(values, BOUNDS["forgetting"])
            for values in zip(*(forgetting_by_task(score["matrix"]) for score in scores), strict=True)
        ],
        "reliability": _reliability(scores),
        "risks": _risks(scores),
        "paper": None
        if row.paper is None
        else {"mean": row.paper.mean, "std": row.paper.std, "where": row.paper.where},
        "paper_curve": _paper_curve(row, experiment.tasks),
        "above_control": None if control is None else _above(row, control),
    }


def correct_p_values(series: list[dict[str, Any]]) -> None:
    """Correct the p-values of one table, those of what series have above the control, by Holm's rule."""
    compared = [one["above_control"] for one in series if one["above_control"]]
    for above, p in zip(compared, holm([above["p"] for above in compared]), strict=True):
        above["p"] = p


def _seconds(experiment: RunGroup) -> float | None:
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


def _reliability(scores: list[dict[str, Any]]) -> list[list[float | None]] | None:
    """Confidence and accuracy of each bin of equal mass at the end, in percent: means over seeds by number of examples."""
    tables = _at_the_end(scores, "reliability")
    if tables is None:
        return None
    bins = []
    for same in zip(*tables, strict=True):
        total = sum(count for count, _, _ in same)
        bins.append([rounded(sum(each[0] * each[at] for each in same) / total) for at in (1, 2)])
    return bins


def _at_the_end(scores: list[dict[str, Any]], name: str) -> list[list[Any]] | None:
    """What was measured of every seed's probabilities at the end; None where it was not, or not alike."""
    tables: list[list[Any]] = [(score.get("uncertainty") or {}).get(name) or [] for score in scores]
    return tables if all(tables) and len(set(map(len, tables))) == 1 else None


def _risks(scores: list[dict[str, Any]]) -> list[float | None] | None:
    """The error in percent of the surest 10, 20 ... 100 % of the answers at the end, means over seeds."""
    tables = _at_the_end(scores, "risks")
    return None if tables is None else [rounded(sum(same) / len(same)) for same in zip(*tables, strict=True)]


def _paper_curve(row: Row, tasks: int) -> list[float] | None:
    """The paper's task-wise accuracies, where its figure for the row is the mean of these."""
    table = f"taskwise-{row.stream}"
    if row.paper is None or row.inference == "aware" or table not in table_ids():
        return None
    accuracies = [published(table, row.method, row.stream, "task-accuracy", task=task + 1) for task in range(tasks)]
    return [value.mean for value in accuracies if value is not None] if all(accuracies) else None


def _above(row: Row, control: RunGroup) -> dict[str, Any] | None:
    """What the row has above the exemplar-only control under the same view, seed by seed."""
    beside = next((other for other in control.rows if other.view == row.view), None)
    outcome = None if beside is None else paired(row.values[AVERAGE], beside.values[AVERAGE])
    if outcome is None:
        return None
    low, high = outcome.interval or (None, None)
    return {
        "mean": rounded(outcome.difference),
        "low": rounded(low),
        "high": rounded(high),
        "p": outcome.p_value,
        "seeds": outcome.seeds,
    }
