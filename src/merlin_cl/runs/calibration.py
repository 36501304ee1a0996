"""What a run's probabilities were worth, in the form that events and result.json hold. Free of torch.

A score in result.json has it under `uncertainty`, None for a method that gives no probabilities; results written before it was
measured have no such entry.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Record = dict[str, Any]

AFTER_EACH_TASK = ("nll", "brier", "ece")
AT_THE_END = ("reliability", "risks", "risk_area")
COVERED = tuple(range(10, 101, 10))
"""Shares of the answers in percent, the surest first, whose errors `risks` has."""


@dataclass(frozen=True)
class Calibration:
    """What the probabilities were worth on all test examples of the tasks seen, each example counting alike."""

    nll: float
    """Negative log-likelihood, in nats."""
    brier: float
    """From 0 to 2."""
    ece: float
    """Expected calibration error in percent, 15 bins of equal mass."""
    reliability: list[list[float]] | None = None
    """For each of these bins: its number of examples, their mean confidence and their accuracy, both in percent; at the end."""
    risks: list[float] | None = None
    """The error in percent of the surest 10, 20, ... 100 % of the answers; at the end."""
    risk_area: float | None = None
    """The mean of the error over all such shares, in percent; at the end."""

    def record(self) -> Record:
        """Plain values, without those that only the end has where this is not the end."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def uncertainty_of(rows: Sequence[Record | None], other: Record | None = None) -> Record | None:
    """The entry `uncertainty`, from what was recorded after each task: numbers become curves, tables are those of the end.

    `other` has the AUROCs in percent against inputs of other kinds, by kind and by kind of uncertainty.
    """
    if not rows or rows[-1] is None:
        return None
    curves = {name: [None if row is None else row[name] for row in rows] for name in AFTER_EACH_TASK}
    tables = {name: rows[-1][name] for name in AT_THE_END if name in rows[-1]}
    return curves | tables | ({"other": other} if other else {})


def after(uncertainty: Record | None, tasks: int) -> Record | None:
    """The entry as it was after so many tasks, without what only the end has."""
    if uncertainty is None or uncertainty["nll"][tasks - 1] is None:
        return None
    return {name: uncertainty[name][:tasks] for name in AFTER_EACH_TASK}


def final_figures(score: Record) -> dict[str, float]:
    """The numbers that a score in result.json ends with, by name; none where nothing was measured.

    >>> uncertainty = {"nll": [0.1, 0.3], "brier": [0.1, 0.2], "ece": [1.0, 2.0], "other": {"svhn": {"total": 80.0}}}
    >>> final_figures({"uncertainty": uncertainty})
    {'nll': 0.3, 'brier': 0.2, 'ece': 2.0, 'auroc_total_svhn': 80.0}
    """
    record = score.get("uncertainty")
    if record is None:
        return {}
    area = {"risk_area": record["risk_area"]} if "risk_area" in record else {}
    told = {
        f"auroc_{name}_{kind}": value
        for kind, values in record.get("other", {}).items()
        for name, value in values.items()
    }
    return {name: record[name][-1] for name in AFTER_EACH_TASK} | area | told
