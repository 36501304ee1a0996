"""Runs sorted for the page: streams that can be compared, in each the experiments, in each the seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.report.diagnosis import CONTROL
from merlin_cl.report.page.sources import Run
from merlin_cl.report.summary import Result, Row, changed_stream, experiment_of, is_ceiling, part_of_stream, summarise
from merlin_cl.report.text import parts, stream_title
from merlin_cl.runs.calibration import after
from merlin_cl.streams.registry import stream_names

AVERAGE = "average_incremental_accuracy"
FIRST = ("merlin", CONTROL)
"""Methods that have the first colours on every page: ours, and what it has to beat."""


@dataclass(frozen=True)
class RunGroup:
    """Runs that differ in their seeds alone."""

    label: str
    """What it is called on the page, different for every experiment on a stream."""
    rows: list[Row]
    """One for each view and inference mode."""
    runs: list[Run]
    """Those that the figures are of."""
    waiting: list[Run]
    """Seeds that are not finished while others are; no figure counts them."""
    results: list[Result]
    """Of `runs`; of a run that is not finished, as far as the slowest of them has come."""

    @property
    def row(self) -> Row:
        """What all rows have in common can be read off the first."""
        return self.rows[0]

    @property
    def finished(self) -> bool:
        """Whether the figures are of whole runs."""
        return all(run.finished for run in self.runs)

    @property
    def tasks(self) -> int:
        """How many tasks the figures are of."""
        tasks: int = self.results[0]["tasks"]
        return tasks

    @property
    def tasks_in_all(self) -> int:
        """How many tasks the stream has, those to come included."""
        return max(self.tasks, *(run.tasks_in_all for run in self.runs))


@dataclass(frozen=True)
class StreamGroup:
    """Experiments on the same tasks and data, so that their figures can be set side by side."""

    title: str
    name: str
    source: str
    changed: dict[str, Any]
    """Settings of the stream that are not its defaults."""
    experiments: list[RunGroup]

    @cached_property
    def _controls(self) -> list[RunGroup]:
        return [one for one in self.experiments if one.row.method == CONTROL and one.finished]

    def control_of(self, experiment: RunGroup) -> RunGroup | None:
        """The exemplar-only control with the same budget, None for the control itself or where it was not run."""
        if experiment.row.method == CONTROL:
            return None
        fitting = [other for other in self._controls if experiment.row.exemplars in (None, other.row.exemplars)]
        return max(fitting, key=lambda other: len(set(other.row.seeds) & set(experiment.row.seeds)), default=None)


def sort_runs(runs: Iterable[Run], *, unfinished: bool) -> list[StreamGroup]:
    """Groups in the order in which streams are listed; `unfinished` runs only where no other seed is finished."""
    by_stream: dict[str, list[Run]] = {}
    for run in runs:
        if run.finished or (unfinished and run.result["scores"]):
            key = json.dumps([run.result["settings"]["stream"], run.result["source"]], sort_keys=True)
            by_stream.setdefault(key, []).append(run)
    groups = [_group(members) for members in by_stream.values()]
    named = _told_apart([group for group in groups if group.experiments])
    known = stream_names()
    return sorted(
        named,
        key=lambda group: (
            known.index(group.name) if group.name in known else len(known),
            group.name,
            len(group.changed),
            group.title,
        ),
    )


def _told_apart(groups: list[StreamGroup]) -> list[StreamGroup]:
    """Groups that share a title, as they differ in their data alone, with these in the title."""
    titles = [group.title for group in groups]
    return [
        group if titles.count(group.title) == 1 else replace(group, title=f"{group.title}, {_short_source(group)}")
        for group in groups
    ]


def _short_source(group: StreamGroup) -> str:
    """The data without their name, where the stream is called after it."""
    name, _, rest = group.source.partition(", ")
    return rest if rest and name in group.title else group.source


def _group(runs: list[Run]) -> StreamGroup:
    by_experiment: dict[str, dict[tuple[bool, int], Run]] = {}
    for run in runs:
        seeds = by_experiment.setdefault(experiment_of(run.result), {})
        known = seeds.get((run.finished, run.seed))
        if known is None or (run.events and not known.events):  # a run folder tells more than its result file
            seeds[run.finished, run.seed] = run
    members = [list(seeds.values()) for seeds in by_experiment.values()]
    experiments = [_experiment(list(alike)) for alike in members]
    first = runs[0].result
    changed, part = changed_stream(first), part_of_stream(first)
    return StreamGroup(
        title=stream_title(first["stream"]) + (f" ({part})" if part else ""),
        name=first["stream"],
        source=first["source"],
        changed=changed,
        experiments=_labelled(sorted(experiments, key=_order), changed),
    )


def _experiment(runs: list[Run]) -> RunGroup:
    runs = sorted(runs, key=lambda run: run.seed)
    finished = [run for run in runs if run.finished]
    shown = finished or runs
    results = [run.result for run in shown]
    if not finished:
        least = min(result["tasks"] for result in results)
        results = [_cut(result, least) for result in results]
    rows = summarise(results)
    if not finished:  # the paper's figure is of all tasks
        rows = [replace(row, paper=None) for row in rows]
    waiting = [run for run in runs if run not in shown]
    return RunGroup(rows[0].method, rows, shown, waiting, results)


def _cut(result: Result, tasks: int) -> Result:
    """The result after so many tasks."""
    scores = []
    for score in result["scores"]:
        matrix = [row[:tasks] for row in score["matrix"][:tasks]]
        metrics = {name: metric(matrix) for name, metric in METRICS.items()}
        curves = {"matrix": matrix, "learning_curve": learning_curve(matrix)}
        scores.append(score | metrics | curves | {"uncertainty": after(score.get("uncertainty"), tasks)})
    diagnosis = {when: values[:tasks] for when, values in result["diagnosis"].items()}
    return result | {"tasks": tasks, "scores": scores, "diagnosis": diagnosis}


def _order(experiment: RunGroup) -> tuple[bool, bool, float, str]:
    """By accuracy, the best first; ceilings after all that keep the rules, and what is not finished last."""
    row = experiment.row
    return not experiment.finished, is_ceiling(row.method), -(row.mean[AVERAGE] or 0.0), row.method


def _labelled(experiments: list[RunGroup], changed_stream: dict[str, Any]) -> list[RunGroup]:
    """Every experiment with a name of its own: the method, its preset, and the settings that tell it from the others."""
    labelled = []
    alike: dict[tuple[str, str], list[Row]] = {}
    for experiment in experiments:
        alike.setdefault((experiment.row.method, experiment.row.preset), []).append(experiment.row)
    for experiment in experiments:
        row = experiment.row
        rivals = alike[row.method, row.preset]
        telling = {
            name: value
            for name, value in row.changed.items()
            if name not in changed_stream and any(other.changed.get(name) != value for other in rivals)
        }
        words = ([row.preset] if row.preset != "default" else []) + ([parts(telling)] if telling else [])
        labelled.append(replace(experiment, label=f"{row.method} ({', '.join(words)})" if words else row.method))
    return _numbered(labelled)


def _numbered(experiments: list[RunGroup]) -> list[RunGroup]:
    """Those that still share a name, as they differ in batch size or device alone, get a number."""
    seen: dict[str, int] = {}
    numbered = []
    for experiment in experiments:
        count = seen[experiment.label] = seen.get(experiment.label, 0) + 1
        numbered.append(experiment if count == 1 else replace(experiment, label=f"{experiment.label} #{count}"))
    return numbered
