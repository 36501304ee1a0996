"""Results of several seeds put together: mean, deviation and interval for each view and inference mode, the paper's beside."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.learners.means import means_of
from merlin_cl.learners.registry import method_settings, preset_kind
from merlin_cl.learners.retired import harmless
from merlin_cl.metrics import BOUNDS, METRICS, Comparison, half_width, holm, interval, mean, paired, standard_deviation
from merlin_cl.paper.published import Published, headline
from merlin_cl.report.text import stream_parts
from merlin_cl.runs.calibration import AFTER_EACH_TASK, final_figures
from merlin_cl.streams.registry import stream_settings

Result = dict[str, Any]
UNKNOWN = (MerlinError, TypeError, ValueError, AttributeError, LookupError)
"""What is raised where settings were recorded that this version does not know, or that somebody altered."""
NAMES = ("name", "kind")
"""What is recorded of a stream or method beside its settings."""


@dataclass(frozen=True)
class Row:
    """One line of a table of results: the same settings, view and inference mode over one or more seeds."""

    stream: str
    method: str
    preset: str
    view: str
    inference: str | None
    source: str
    exemplars: int | None
    updates_per_batch: int | None
    batch_size: int
    seeds: list[int]
    stored_bytes: float | None
    """Kept between tasks, the mean over seeds; None where the method does not state it."""
    held_bytes: float | None
    """Held at the most while a task is learned, what is kept between tasks included; None where a run did not measure it."""
    changed: dict[str, Any]
    """Settings of stream and method that are not those of the stream's defaults and the method's preset."""
    means: dict[str, Any]
    """What the method had to learn with: updates, exemplars and the like (see `learners/means.py`)."""
    stream_changed: dict[str, Any]
    """Those of the stream alone: rows that differ in them learned other tasks."""
    mean: dict[str, float | None]
    """Over seeds, of the metrics of accuracy and of what the probabilities were worth at the end, where that was measured."""
    std: dict[str, float | None]
    half_width: dict[str, float | None]
    """Of the 95 % interval for the mean; None for fewer than five seeds."""
    values: dict[str, dict[int, float]]
    """What each seed gave."""
    paper: Published | None
    """The paper's average incremental accuracy, where it has one for this stream as it is set."""

    def interval(self, name: str) -> tuple[float, float] | None:
        """The 95 % interval for the mean of a metric, within what the metric can be; None for fewer than five seeds."""
        return interval(list(self.values[name].values()), *BOUNDS.get(name, (-math.inf, math.inf)))

    def record(self) -> dict[str, Any]:
        """Plain values, for --json."""
        return asdict(self)


def summarise(results: Iterable[Result]) -> list[Row]:
    """Rows in the order in which their settings first appear."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(experiment_of(result), []).append(result)
    return [_row(group, place) for group in groups.values() for place in range(len(group[0]["scores"]))]


@dataclass(frozen=True)
class Contest:
    """A row beside the best one that answers the same question, over the seeds that both have."""

    row: Row
    best: Row
    outcome: Comparison
    """Average incremental accuracy: the row's minus the best one's. Its p-value is corrected for all contests found with it."""

    def record(self) -> dict[str, Any]:
        """Plain values, for --json."""

        def named(row: Row) -> dict[str, Any]:
            return {name: getattr(row, name) for name in ("method", "preset", "inference", "changed")}

        first = {name: getattr(self.row, name) for name in ("stream", "view")}
        return {**first, "row": named(self.row), "best": named(self.best), **asdict(self.outcome)}


def contests(rows: Iterable[Row], metric: str = "average_incremental_accuracy") -> list[Contest]:
    """Every row beside the best of those that share stream, data, view and whether they are told the task.

    The best is among methods' first answers, as in the ranking. Ceilings are left out. The p-values are corrected by Holm's rule
    over all that is returned, which is meant to be one table.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if len(row.values[metric]) > 1 and not is_ceiling(row.method):
            known = row.inference == "aware"
            key = [row.stream, row.source, row.stream_changed, row.view, known]
            groups.setdefault(json.dumps(key, sort_keys=True), []).append(row)
    pairings = []
    for group in groups.values():
        best = max(first_answers(group), key=lambda row: row.mean[metric] or 0.0)
        for row in group:
            outcome = None if row is best else paired(row.values[metric], best.values[metric])
            if outcome is not None and outcome.seeds > 1:
                pairings.append(Contest(row, best, outcome))
    corrected = holm([contest.outcome.p_value for contest in pairings])
    return [
        replace(contest, outcome=replace(contest.outcome, p_value=p))
        for contest, p in zip(pairings, corrected, strict=True)
    ]


def first_answers(rows: Iterable[Row]) -> list[Row]:
    """Of every learner the answer that it is ranked by: the first of those it has."""
    first: dict[str, Row] = {}
    for row in rows:
        settings = [row.method, row.preset, row.changed, row.batch_size, row.exemplars, row.seeds]
        first.setdefault(json.dumps(settings, sort_keys=True, default=str), row)
    return list(first.values())


@cache
def is_ceiling(method: str) -> bool:
    """Whether a method breaks the rules by design, as `joint` does; one that is not installed here is taken to keep them."""
    try:
        return bool(method_settings(method).ceiling)
    except MerlinError:
        return False


def experiment_of(result: Result) -> str:
    """All but the seed, as text: runs that agree in it are the same experiment, and were asked the same questions."""
    asked = [[score["view"], score["inference"]] for score in result["scores"]]
    said = [result["settings"], result["source"], result["batch_size"], result["preset"], result["stream"], asked]
    return json.dumps([*said, result["method"]], sort_keys=True)


def _row(group: list[Result], place: int) -> Row:
    first = group[0]
    scores = [result["scores"][place] for result in group]
    view, inference = scores[0]["view"], scores[0]["inference"]
    figures = [{name: score[name] for name in METRICS} | final_figures(score) for score in scores]
    seeds = [result["seed"] for result in group]
    values = {
        name: {seed: of_run[name] for seed, of_run in zip(seeds, figures, strict=True) if of_run.get(name) is not None}
        for name in dict.fromkeys((*METRICS, *AFTER_EACH_TASK, *(name for of_run in figures for name in of_run)))
    }
    stored = [stored_in_all(result) for result in group]
    held = [result["cost"].get("held_bytes") for result in group]
    listed = {name: list(of_seed.values()) for name, of_seed in values.items()}
    return Row(
        **{name: first[name] for name in ("stream", "method", "preset", "source", "batch_size")},
        **{name: first[name] for name in ("exemplars", "updates_per_batch")},
        view=view,
        inference=inference,
        seeds=sorted(set(seeds)),
        stored_bytes=None if None in stored else mean([count for count in stored if count is not None]),
        held_bytes=None if None in held else mean(held),
        mean={name: mean(of_seeds) if of_seeds else None for name, of_seeds in listed.items()},
        std={name: standard_deviation(of_seeds) for name, of_seeds in listed.items()},
        half_width={name: half_width(of_seeds) for name, of_seeds in listed.items()},
        values=values,
        means=means_of(first["settings"]["method"], _kind(first)),
        changed=changed_stream(first) | _changed_method(first),
        stream_changed=changed_stream(first),
        # Streams have the paper's protocol by default; with other settings there is nothing to compare with.
        paper=None if changed_stream(first) else headline(first["method"], _kind(first), view, inference),
    )


def stored_in_all(result: Result) -> float | None:
    """Bytes that the method keeps between tasks; None where it does not state them."""
    kinds: dict[str, float] = result["cost"]["stored_bytes"] or {}
    return sum(kinds.values()) if kinds else None


def changed_stream(result: Result) -> dict[str, Any]:
    """The settings of the stream that are not its defaults."""
    return _differing(result["settings"]["stream"], _usual_stream(result))


def part_of_stream(result: Result) -> str:
    """What the stream has otherwise than by default, in words; empty for the stream as it is by default."""
    return stream_parts(changed_stream(result), _usual_stream(result))


def _usual_stream(result: Result) -> dict[str, Any]:
    try:
        return stream_settings(_kind(result))().record()
    except UNKNOWN:  # a stream of another package that is not installed here, or has no defaults
        return {}


def _changed_method(result: Result) -> dict[str, Any]:
    record = result["settings"]["stream"]
    try:
        stream = stream_settings(_kind(result))(**{name: record[name] for name in record if name not in NAMES})
        shared = any(score["view"] == "domain-incremental" for score in result["scores"])
        info = replace(stream.outline(), domain_incremental=shared)
        kind, preset = preset_kind(result["method"], result["preset"])
        default = kind.preset(preset, info).record()
    except UNKNOWN:
        return _differing(result["settings"]["method"], {})
    settings = {
        name: value
        for name, value in result["settings"]["method"].items()
        if not harmless(result["method"], name, value)
    }
    if kind.method != result["method"]:  # the preset has become a method of its own since, with settings of its own
        settings = {name: settings[name] for name in default if name in settings}
    return _differing(settings, default)


def _differing(settings: dict[str, Any], default: dict[str, Any]) -> dict[str, Any]:
    known = json.loads(json.dumps(default))  # as it was written: tuples are lists
    return {name: value for name, value in settings.items() if name not in NAMES and known.get(name) != value}


def _kind(result: Result) -> str:
    """The stream by the name of its settings; a user's own data have a name of their own beside it."""
    kind: str = result["settings"]["stream"].get("kind", result["stream"])
    return kind
