"""Result files, the rows they make, and the figures of the paper that stand beside them."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.pages.markdown import ROOT

from merlin_cl.metrics import mean
from merlin_cl.paper.experiment import experiment, view_for
from merlin_cl.paper.published import Published, first_tasks, headline, published
from merlin_cl.protocol import Inference
from merlin_cl.report.ranking import Place, beside_the_first
from merlin_cl.report.summary import Result, Row, experiment_of, summarise
from merlin_cl.report.text import NONE, parts, stream_parts
from merlin_cl.streams.registry import stream_names, stream_settings

A = "average_incremental_accuracy"
LARGER = "resnet18"
"""The network that stands for the paper's, where it gives its rivals a larger one than MERLIN's."""


@dataclass(frozen=True)
class Record:
    """What one run found, with the revision and the day it was made."""

    result: Result
    revision: str | None
    date: str | None


@dataclass(frozen=True)
class ResultRow:
    """A row of results, and the result files it comes from."""

    row: Row
    records: list[Record]

    @cached_property
    def cpu_seconds(self) -> float:
        """The mean over runs, learning and scoring."""
        return mean([sum(record.result["cost"]["cpu_seconds"].values()) for record in self.records])


@dataclass(frozen=True)
class Asked:
    """A figure of the paper that is to be reached."""

    stream: str
    method: str
    inference: Inference | None
    paper: Published


def read_records(folder: Path = ROOT / "results") -> list[Record]:
    """Return all result files of streams."""
    known = stream_names()
    contents = [
        json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*/*.json")) if file.parent.name in known
    ]
    return [
        Record(content["result"], content["environment"]["git_revision"], content.get("date")) for content in contents
    ]


def read_reasons(path: Path = ROOT / "results" / "reasons.toml") -> dict[str, str]:
    """Return what no file can know: why a figure of the paper was missed, by stream, method and inference."""
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def entries(records: list[Record]) -> list[ResultRow]:
    """Return the rows that records make, those of an experiment together."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(experiment_of(record.result), []).append(record)
    return [ResultRow(row, group) for group in groups.values() for row in summarise(record.result for record in group)]


def asked() -> list[Asked]:
    """Return the figures of the paper's main table and of its further methods and streams, and MERLIN's told the task."""
    wanted: dict[tuple[str, str, Inference | None], Asked] = {}
    for name in ("main", "variants", "cndpm-prior", "additional", "20-tasks"):
        for line in experiment(name).lines:
            for inference in line.inferences:
                for stream in experiment(name).streams:
                    paper = headline(line.method, stream, view_for(stream, inference), inference)
                    if paper is not None and stream not in line.skip:
                        one = Asked(stream, line.method, inference, paper)
                        wanted.setdefault((stream, line.method, inference), one)
    return list(wanted.values())


def streams_of(records: list[Record]) -> list[str]:
    """Return the streams that have a page: those of the paper in its order, then others with a result file."""
    streams = list(dict.fromkeys(one.stream for one in asked()))
    measured = {record.result["stream"] for record in records}
    return [*streams, *(name for name in stream_names() if name not in streams and name in measured)]


def changed_stream(row: Row) -> dict[str, Any]:
    """Return what was set otherwise than the paper has the stream."""
    known = stream_settings(row.stream)().record()
    return {name: value for name, value in row.changed.items() if name in known}


def fewer_images(row: Row) -> int | None:
    """Return the images a task, where they are fewer than the stream's and nothing else of it is changed."""
    changed = changed_stream(row)
    images = changed.get("images_per_task")
    fewer = (
        set(changed) == {"images_per_task"} and 0 < images < stream_settings(row.stream)().record()["images_per_task"]
    )
    return images if fewer else None


def paper_of(row: Row) -> Published | None:
    """Return the paper's figure for a row, also where fewer images, fewer data sets or only the first tasks were learned."""
    if row.paper is not None:
        return row.paper
    changed = changed_stream(row)
    whole = changed.get("images_per_task") == 0  # which the paper may have had where it does not say
    if fewer_images(row) or set(changed) - ({"images_per_task"} if whole else set()) == {"datasets"}:
        return headline(row.method, row.stream, row.view, row.inference)
    comparable = row.view == view_for(row.stream, row.inference) and row.inference != "aware"
    if set(changed) == {"tasks"} and comparable:
        return first_tasks(row.method, row.stream, changed["tasks"])
    return None


def same_network(method: str, stream: str) -> Published | None:
    """Return the paper's figure of a method on MERLIN's own network, where its main table has another."""
    return published("small-backbone", method, stream, "A", backbone="small-resnet")


def larger_network(row: Row) -> str | None:
    """Say, where the paper gives a rival a larger network than MERLIN's, what it has with the same one."""
    same = same_network(row.method, row.stream)
    if same is None or row.method in ("merlin", "merlin-paper") or row.changed.get("network") == LARGER:
        return None
    said = "the paper's network is larger"
    return said if "tasks" in row.changed else f"{said}, with ours it has {same.mean:g} ± {same.std:g} ({same.where})"


def row_of(
    rows: list[Row],
    stream: str,
    method: str,
    inference: str | None,
    view: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row | None:
    """Return the row of a method with some `settings` otherwise than by default, or the nearest: fewest of them missed, fewest
    others changed, then most seeds. Only the network is never another."""
    view, wanted = view or view_for(stream, inference), settings or {}

    def distance(row: Row) -> tuple[int, int, int]:
        missed = sum(row.changed.get(name) != value for name, value in wanted.items())
        return missed, len(row.changed), -len(row.seeds)

    known = [
        row
        for row in rows
        if (row.stream, row.method, row.inference, row.view) == (stream, method, inference, view)
        and row.changed.get("network") == wanted.get("network")
        and (headline(method, stream, view, inference) is None or paper_of(row) is not None)
    ]
    return min(known, key=distance, default=None)


def one_a_method(places: list[Place]) -> list[Place]:
    """Return one ranked row a method, ranked among each other: as it is by default, or the nearest to that, then most seeds.

    Never the best of several: that would be a choice by test data. Ceilings follow, without a rank.
    """
    methods: dict[str, list[Row]] = {}
    for place in places:
        if place.rank is not None:
            methods.setdefault(place.row.method, []).append(place.row)
    rows = [min(known, key=lambda row: (len(row.changed), -len(row.seeds))) for known in methods.values()]
    scores = [row.mean[A] or 0.0 for row in rows]
    ranked = [
        Place(row, 1 + sum(other > own for other in scores), len(rows)) for row, own in zip(rows, scores, strict=True)
    ]
    ceilings = [place for place in places if place.apart == "ceiling"]
    return beside_the_first(sorted(ranked, key=lambda place: place.rank or 0)) + ceilings[:1]


def named(row: Row) -> str:
    """Return a method with what was set otherwise than by default; not what was of the stream, which is told apart."""
    preset = f" ({row.preset})" if row.preset != "default" else ""
    changed = {name: value for name, value in row.changed.items() if name not in changed_stream(row)}
    return f"`{row.method}`{preset}" + (f" {parts(changed)}" if changed else "")


def part_of_stream(row: Row) -> str:
    """Return, in words, what a row's stream has otherwise than the paper's; empty for the whole stream."""
    return stream_parts(changed_stream(row), stream_settings(row.stream)().record())


def figure(row: Row, metric: str, digits: int = 2) -> str:
    """Return a mean over seeds with its standard deviation."""
    middle, deviation = row.mean[metric], row.std[metric]
    if middle is None:
        return NONE
    return f"{middle:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def paper_figure(paper: Published) -> str:
    """Return a figure of the paper with its deviation, where it has one."""
    return f"{paper.mean:g}" + ("" if paper.std is None else f" ± {paper.std:g}")
