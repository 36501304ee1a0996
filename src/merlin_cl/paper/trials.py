"""The runs that a table or figure of the paper asks for: its lines on its streams over seeds. Free of torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from merlin_cl.errors import UsageError, unknown
from merlin_cl.learners.registry import method_settings
from merlin_cl.paper.experiment import Experiment, Line
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.parse_settings import changed
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.settings import StreamSettings

QUICK_TASKS = 2
"""Tasks of a quick look at a table."""
ONE_RUN = ("losses", "priors", "sizes")
"""Kinds that show or count what one run has: more seeds would add nothing."""


@dataclass(frozen=True)
class TrialOptions:
    """What the user wants of a table or figure."""

    seeds: int = 5
    tasks: int | None = None
    """Only so many tasks of every stream."""
    images_per_task: int | None = None
    """Only so many training images a task, where the data at hand have no more."""
    datasets: tuple[str, ...] = ()
    """Only these data sets of the heterogeneous stream; empty: all."""
    streams: tuple[str, ...] = ()
    """Only these; empty: all that it has."""
    methods: tuple[str, ...] = ()
    """Only these; empty: all that it has."""
    data: str | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        for name in ("seeds", "tasks", "images_per_task"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is {value}; it must be at least 1.")

    @property
    def label(self) -> str:
        """What has to be said of the numbers wherever they are shown; empty for the whole thing."""
        if self.quick:
            return f"QUICK LOOK: one seed, the first {self.tasks} tasks of every stream. Not a reproduction."
        tasks = f"Only the first {self.tasks} tasks of every stream." if self.tasks else ""
        images = f"Only {self.images_per_task:,} training images a task." if self.images_per_task else ""
        sets = f"Of the heterogeneous stream only {', '.join(self.datasets)}." if self.datasets else ""
        return " ".join(filter(None, [tasks, images, sets]))


@dataclass
class ExperimentLine:
    """A line on a stream: one run for each seed."""

    experiment: Experiment
    line: Line
    stream: StreamSettings
    configs: list[RunConfig]
    reason: str | None = None
    """Why it cannot be run here."""
    results: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What the runs found, by seed."""
    folders: dict[int, RunFolder] = field(default_factory=dict)
    """Where they are."""

    @property
    def shortened(self) -> bool:
        """Whether the stream has fewer tasks than the paper's."""
        return self.stream.outline().tasks < type(self.stream)().outline().tasks


def trials(experiment: Experiment, choice: TrialOptions) -> list[ExperimentLine]:
    """Every line on every stream wanted."""
    for name in choice.streams:
        if name not in experiment.streams and experiment.table:  # what the paper has no numbers for can be shown of any
            raise unknown(f"stream of {experiment.name}", name, experiment.streams)
    methods = list(dict.fromkeys(line.method for line in experiment.lines))
    for name in choice.methods:
        if name not in methods:
            raise unknown(f"method of {experiment.name}", name, methods)
    expanded = []
    for stream_name in choice.streams or experiment.streams:
        stream = _stream(stream_name, choice)
        for line in experiment.lines:
            if stream_name not in line.skip and line.method in (choice.methods or methods):
                expanded.append(
                    ExperimentLine(experiment, line, stream, list(_configs(experiment, line, stream, choice)))
                )
    return expanded


def _configs(experiment: Experiment, line: Line, stream: StreamSettings, choice: TrialOptions) -> Iterable[RunConfig]:
    kind = method_settings(line.method)
    own = line.besides(stream.info())
    # What a search chose for the means that methods here share need not suit others.
    start = kind.untuned(stream.info()) if own else kind.preset("default", stream.info())
    method = changed(start, {**line.settings, **own})
    seeds = 1 if experiment.kind in ONE_RUN else choice.seeds
    inference = str(line.inferences[0]) if line.alone else "all"
    for seed in range(seeds):
        yield RunConfig(stream, method, seed, inference=inference, data=choice.data)


def _stream(name: str, choice: TrialOptions) -> StreamSettings:
    """A stream of the paper, with its first tasks only where fewer are wanted, and with no more images or data sets than are."""
    settings = stream_settings(name)()
    if choice.images_per_task is not None:
        settings = changed(settings, {"images_per_task": choice.images_per_task})
    if hasattr(settings, "datasets"):
        wanted = list(choice.datasets or settings.datasets)
        return changed(settings, {"datasets": wanted[: choice.tasks]})
    if choice.tasks is None or choice.tasks >= settings.outline().tasks:
        return settings
    return changed(settings, {"tasks": choice.tasks})
