"""Our numbers beside the paper's: one cell for each line, stream and measure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from merlin_cl.metrics import BOUNDS, Comparison, half_width, holm, interval, mean, paired, standard_deviation
from merlin_cl.paper.experiment import Line, view_for
from merlin_cl.paper.losses import curves_with_total, ends
from merlin_cl.paper.published import Published, first_tasks
from merlin_cl.paper.samples import samples_of, separation
from merlin_cl.paper.trials import ExperimentLine
from merlin_cl.paper.verdict import Judgement, reason, verdict
from merlin_cl.protocol import Inference, View

SCORES = {"A": "average_incremental_accuracy", "F": "forgetting"}
"""What the paper calls them, and what a result does."""
SIZES = {"params-classifier": "classifier", "params-vae": "meta_model"}


@dataclass(frozen=True)
class Cell:
    """A number of ours beside the paper's."""

    stream: str
    view: View | None
    line: Line
    inference: Inference | None
    measure: str
    """A, F, `task 3`, or what is counted."""
    values: dict[int, float] = field(default_factory=dict)
    """Ours, by seed."""
    paper: Published | None = None
    missing: str | None = None
    """Why there is none of ours."""

    @property
    def mean(self) -> float | None:
        """Over seeds."""
        return mean(list(self.values.values())) if self.values else None

    @property
    def std(self) -> float | None:
        """Over seeds, with n - 1; None for one."""
        return standard_deviation(list(self.values.values()))

    @property
    def half_width(self) -> float | None:
        """Of the 95 % interval for the mean; None for fewer than five seeds."""
        return half_width(list(self.values.values()))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval for the mean, within what the measure can be; None for fewer than five seeds."""
        return interval(list(self.values.values()), *BOUNDS[SCORES.get(self.measure, SCORES["A"])])

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper.mean

    @property
    def mark(self) -> Judgement | Literal["not run"] | None:
        """What came of the paper's number; None where it has none."""
        if self.paper is None:
            return None
        if self.mean is None:
            return "not run"
        return verdict(self.mean, self.half_width, self.paper, lower_is_better=self.measure == "F")

    @property
    def reason(self) -> str:
        """Why it has that mark."""
        if self.mean is None:
            return self.missing or "no run of it is finished"
        if self.paper is None:
            return "the paper has no number for this"
        said = reason(self.mean, self.half_width, self.paper)
        return f"{said}; {self.line.why}" if self.line.why and self.mark == "not reached" else said


def cells_of(trial: ExperimentLine) -> list[Cell]:
    """All cells of a line on a stream."""
    experiment = trial.experiment
    if experiment.kind == "sizes":
        return _sizes(trial)
    if experiment.kind in ("losses", "priors"):
        return _figures(trial)
    if experiment.kind == "curves":
        return [cell for inference in trial.line.inferences for cell in _curve(trial, inference)]
    return [_score(trial, inference, measure) for inference in trial.line.inferences for measure in experiment.measures]


def comparisons(cells: Iterable[Cell]) -> list[tuple[Cell, Cell, Comparison]]:
    """Each cell of average accuracy beside the line that the others are compared with: same stream, view and seeds.

    The p-values are corrected by Holm's rule over all that is returned, which is meant to be one table.
    """
    listed = [cell for cell in cells if cell.measure == "A" and cell.values]
    compared = []
    for reference in (cell for cell in listed if cell.line.reference):
        for cell in listed:
            same = (cell.stream, cell.view) == (reference.stream, reference.view)
            answered_alike = (cell.inference == "aware") == (reference.inference == "aware")
            if same and answered_alike and not cell.line.reference:
                outcome = paired(reference.values, cell.values)
                if outcome is not None and outcome.seeds > 1:
                    compared.append((reference, cell, outcome))
    corrected = holm([outcome.p_value for _, _, outcome in compared])
    return [
        (reference, cell, replace(outcome, p_value=p))
        for (reference, cell, outcome), p in zip(compared, corrected, strict=True)
    ]


def score_of(result: dict[str, Any], view: View, inference: Inference | None) -> dict[str, Any]:
    """The score of a result under a view, by an inference mode."""
    return next(score for score in result["scores"] if (score["view"], score["inference"]) == (view, inference))


def _score(trial: ExperimentLine, inference: Inference | None, measure: str) -> Cell:
    name, line = trial.stream.stream, trial.line
    view = view_for(name, inference)
    values = {seed: score_of(result, view, inference)[SCORES[measure]] for seed, result in trial.results.items()}
    known = {seed: value for seed, value in values.items() if value is not None}
    paper = trial.experiment.published(line, name, measure)
    if trial.shortened:  # only the task-wise tables tell of the first tasks
        plain = trial.experiment.table == "main" and measure == "A"
        paper = first_tasks(line.method, name, trial.stream.outline().tasks) if plain else None
    return Cell(name, view, line, inference, measure, known, paper, trial.reason)


def _curve(trial: ExperimentLine, inference: Inference | None) -> Iterable[Cell]:
    name, line = trial.stream.stream, trial.line
    view = view_for(name, inference)
    curves = {seed: score_of(result, view, inference)["learning_curve"] for seed, result in trial.results.items()}
    for task in range(trial.stream.outline().tasks):
        values = {seed: curve[task] for seed, curve in curves.items()}
        paper = trial.experiment.published(line, name, "task-accuracy", task=task + 1)
        yield Cell(name, view, line, inference, f"task {task + 1}", values, paper, trial.reason)


def _sizes(trial: ExperimentLine) -> list[Cell]:
    """Counted on a learner that has learned nothing."""
    from merlin_cl.learners.learner import Learner

    learner: Learner[Any] = trial.configs[0].method.build(trial.stream.outline(), seed=0)
    sizes, name = learner.parameters(), trial.stream.stream
    return [
        Cell(
            name,
            None,
            trial.line,
            None,
            measure,
            {0: float(sizes[SIZES[measure]])},
            trial.experiment.published(trial.line, name, measure),
        )
        for measure in trial.experiment.measures
    ]


def _figures(trial: ExperimentLine) -> list[Cell]:
    """What a figure shows, in numbers."""
    name, line = trial.stream.stream, trial.line
    if not trial.folders:
        return [Cell(name, None, line, None, "figure", missing=trial.reason)]
    folder = next(iter(trial.folders.values()))
    measures = ends(curves_with_total(folder)) if trial.experiment.kind == "losses" else separation(samples_of(folder))
    return [Cell(name, None, line, None, measure, {0: value}) for measure, value in measures.items()]
