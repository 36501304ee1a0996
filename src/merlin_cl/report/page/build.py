"""The whole content of a page, as plain values: what the template writes as tables and the script draws as figures."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from merlin_cl import __version__
from merlin_cl.commands import merlin
from merlin_cl.report.means import unequal_means
from merlin_cl.report.page.checkpoint_reader import Kept, opened
from merlin_cl.report.page.command import command_for
from merlin_cl.report.page.diagnosis import diagnosis_of
from merlin_cl.report.page.experiments import FIRST, RunGroup, StreamGroup, sort_runs
from merlin_cl.report.page.gallery import gallery
from merlin_cl.report.page.latent import latent_space
from merlin_cl.report.page.losses import drawn_losses
from merlin_cl.report.page.series import correct_p_values, series_of
from merlin_cl.report.page.sources import Run
from merlin_cl.report.ranking import Place, ranking, sentence
from merlin_cl.report.text import stream_title

GALLERY_BYTES = 3_000_000
"""Pictures on a page in all; galleries beyond that are left out."""
GALLERIES = 40
"""Experiments on a page whose pictures are looked at, the first of every stream first: most of a thousand keep the same ones."""

Content = dict[str, Any]


def content(runs: Iterable[Run], problems: Iterable[str] = (), *, title: str = "", unfinished: bool = False) -> Content:
    """Everything a page shows of some runs; without a title it is called after the streams."""
    runs = list(runs)
    groups = sort_runs(runs, unfinished=unfinished)
    slots = _slots(groups)
    pictures = _PictureBudget(GALLERY_BYTES)
    return {
        "title": title or _title(groups),
        "version": __version__,
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "runs": sum(len(experiment.runs) for group in groups for experiment in group.experiments),
        "problems": [*problems, *([] if unfinished else _left_out(runs))],
        "streams": [
            {**_stream(group, number, slots, pictures), "tab": tab}
            for number, (group, tab) in enumerate(zip(groups, _tabs(groups), strict=True))
        ],
    }


def _tabs(groups: list[StreamGroup]) -> list[str]:
    """What tabs are called: the streams' names, with all that tells them apart where several share one."""
    names = [stream_title(group.name) for group in groups]
    return [name if names.count(name) == 1 else group.title for name, group in zip(names, groups, strict=True)]


def _title(groups: list[StreamGroup]) -> str:
    """The streams by name while they are few."""
    names = [*dict.fromkeys(stream_title(group.name) for group in groups)]
    if not names:
        return "Runs"
    return " and ".join(names) if len(names) < 3 else f"{len(groups)} streams"


def _stream(group: StreamGroup, number: int, slots: dict[str, int], pictures: _PictureBudget) -> Content:
    finished = [experiment for experiment in group.experiments if experiment.finished]
    questions = ranking(row for experiment in finished for row in experiment.rows)
    ranked = {id(place.row): place for places in questions for place in places}
    labels = {id(row): experiment.label for experiment in finished for row in experiment.rows}
    experiments = [
        _experiment(group, experiment, slots[experiment.label], pictures, ranked) for experiment in group.experiments
    ]
    _leave_out_repeated(experiments)
    series = [one for experiment in experiments for one in experiment["series"]]
    correct_p_values(series)
    for place, one in enumerate(series):
        one["id"] = f"{number}-{place}"
    return {
        "id": f"stream-{number}",
        "title": group.title,
        "name": group.name,
        "changed": group.changed,
        "source": group.source,
        "processors": _processors(group),
        "unequal": unequal_means(row for experiment in group.experiments for row in experiment.rows),
        "sentences": {places[0].row.view: sentence(places, lambda row: labels[id(row)]) for places in questions},
        "tasks": max(one["tasks_in_all"] for one in series),
        "task_names": max((each["task_names"] for each in experiments if each["task_names"]), key=len, default=None),
        "views": list(dict.fromkeys(one["view"] for one in series)),
        "experiments": experiments,
    }


def _experiment(
    group: StreamGroup, experiment: RunGroup, slot: int, pictures: _PictureBudget, ranked: dict[int, Place]
) -> Content:
    row, first = experiment.row, experiment.runs[0]
    series = [series_of(group, experiment, place, ranked) for place in range(len(experiment.rows))]
    for one in series:
        one["slot"] = slot
    space, shown, names, classes = None, None, None, None
    with opened(first.checkpoint) as kept:
        if kept is not None:
            space, shown, names, classes = _of_checkpoint(kept, pictures)
    return {
        "label": experiment.label,
        "slot": slot,
        "method": row.method,
        "preset": row.preset,
        "changed": row.changed,
        "finished": experiment.finished,
        "tasks": experiment.tasks,
        "task_names": names,
        "series": series,
        "diagnosis": diagnosis_of(group, experiment, series, classes),
        "losses": {"seed": first.seed, "curves": curves} if (curves := drawn_losses(first)) else None,
        "latent": space and {"seed": first.seed, **space},
        "gallery": shown and {"seed": first.seed, **shown},
        "cost": _cost(experiment),
        "settings": _settings(experiment),
        "environments": _environments(experiment.runs),
        "runs": [_run(run) for run in (*experiment.runs, *experiment.waiting)],
        "command": command_for(row, experiment.runs),
    }


def _of_checkpoint(
    kept: Kept, pictures: _PictureBudget
) -> tuple[Content | None, Content | None, list[str] | None, list[int] | None]:
    """Latent space, gallery, names and numbers of classes of the tasks; a checkpoint of an unknown shape has none of them."""
    try:
        counts = [len(classes) for classes in kept.task_classes]
        shown = pictures.admit(gallery(kept)) if pictures.wanted else None
        return latent_space(kept), shown, kept.task_names, counts
    except (KeyError, TypeError, ValueError, IndexError):
        return None, None, None, None


class _PictureBudget:
    """Lets galleries in until the page has enough pictures; the same pictures are not shown twice."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.seen: set[int] = set()
        self.looked_at = 0

    @property
    def wanted(self) -> bool:
        return self.looked_at < GALLERIES

    def admit(self, shown: Content | None) -> Content | None:
        if shown is None:
            return None
        self.looked_at += 1
        uris = [uri for task in shown["tasks"] for group in task["classes"] for uri in group["pictures"]]
        same, weight = hash(tuple(uris)), sum(map(len, uris))
        if same in self.seen or weight > self.left:
            return None
        self.seen.add(same)
        self.left -= weight
        return shown


def _slots(groups: list[StreamGroup]) -> dict[str, int]:
    """A number for every label on the page: the same method has the same colour and mark on every stream."""
    labels = dict.fromkeys([*FIRST, *(experiment.label for group in groups for experiment in group.experiments)])
    return {label: slot for slot, label in enumerate(labels)}


def _cost(experiment: RunGroup) -> Content | None:
    """CPU seconds by kind of work and bytes by kind of thing kept, means over seeds; of finished runs."""
    if not experiment.finished:
        return None
    costs = [result["cost"] for result in experiment.results]

    def means(name: str) -> dict[str, float]:
        measured: list[dict[str, float]] = [cost[name] or {} for cost in costs]
        kinds = dict.fromkeys(kind for one in measured for kind in one)
        return {kind: round(sum(one.get(kind, 0.0) for one in measured) / len(measured), 3) for kind in kinds}

    return {
        "seconds": means("cpu_seconds"),
        "stored": means("stored_bytes"),
        "peak": max(cost["peak_rss_bytes"] for cost in costs),
        "parameters": experiment.results[0]["parameters"],
    }


def _settings(experiment: RunGroup) -> list[Content]:
    """Every setting with its value, and whether it is other than the default or preset has it."""
    result, changed = experiment.results[0], experiment.row.changed
    run = {"batch_size": result["batch_size"]} | {
        name: value for name, value in result["settings"].items() if name not in ("stream", "method")
    }
    return [
        {"part": part, "name": name, "value": value, "changed": name in changed}
        for part, values in (
            ("stream", result["settings"]["stream"]),
            ("method", result["settings"]["method"]),
            ("run", run),
        )
        for name, value in values.items()
        if name not in ("name", "kind")
    ]


def _environments(runs: list[Run]) -> list[Content]:
    """Where the runs were computed: each different environment once, with the seeds it was for."""
    environments: dict[str, Content] = {}
    for run in runs:
        if run.environment is None:
            continue
        machine = run.environment["machine"]
        facts = {
            **run.environment["versions"],
            "revision": run.environment["git_revision"] or "not known",
            "system": machine["system"],
            "processor": f"{machine['processor']} ({machine['cores']} cores, {machine['cpu_capability']})",
            "threads": run.environment["threads"],
        }
        environments.setdefault(repr(facts), {"facts": facts, "seeds": []})["seeds"].append(run.seed)
    return list(environments.values())


def _leave_out_repeated(experiments: list[Content]) -> None:
    """Settings and environments that a method's first experiment has too are told there alone; `like` is its label."""
    first: dict[str, tuple[Content, list[Content], list[Content]]] = {}
    for experiment in experiments:
        own = experiment, list(experiment["settings"]), [one["facts"] for one in experiment["environments"]]
        model, settings, facts = first.setdefault(experiment["method"], own)
        experiment["like"] = None
        if model is experiment:
            continue
        experiment["like"] = model["label"]
        experiment["settings"] = [setting for setting in experiment["settings"] if setting not in settings]
        if own[2] == facts:
            experiment["environments"] = []


def _processors(group: StreamGroup) -> list[str]:
    """What the runs of a stream were computed on, as far as they say so."""
    environments = (run.environment for experiment in group.experiments for run in experiment.runs)
    return sorted({str(one["machine"]["processor"]) for one in environments if one is not None})


def _run(run: Run) -> Content:
    return {
        "name": run.name,
        "seed": run.seed,
        "finished": run.finished,
        "tasks": run.result["tasks"],
        "seconds": round(sum(run.result["cost"]["cpu_seconds"].values()), 1) if run.finished else None,
        "revision": (run.environment or {}).get("git_revision"),
    }


def _left_out(runs: list[Run]) -> list[str]:
    return [
        f"{run.path} is not finished and was left out; `{merlin('resume', run.path)}` goes on."
        for run in runs
        if not run.finished
    ]
