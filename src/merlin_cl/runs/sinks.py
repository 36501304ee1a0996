"""Sinks: places besides the run folder that a run's events go to as they are written, such as TensorBoard or MLflow.

The run folder stays the record. A sink is given every event there is, in order, those of before a resume included; one that fails
is let go with a word, and the run goes on.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from merlin_cl.errors import UsageError
from merlin_cl.runs.calibration import AFTER_EACH_TASK
from merlin_cl.runs.folder import RunFolder

SinkName = Literal["tensorboard", "mlflow"]
SINKS: dict[SinkName, str] = {
    "tensorboard": "merlin_cl.runs.sinks_tensorboard:TensorBoardSink",
    "mlflow": "merlin_cl.runs.sinks_mlflow:MLflowSink",
}
"""Where each lives, imported when it is asked for; the package it needs has its name."""
LAST = ("finished", "failed", "stopped")
"""Events after which nothing comes, unless the run is resumed."""

Event = dict[str, Any]


class Sink(Protocol):
    """Takes the events of one run. It is made with the run's folder."""

    def take(self, event: Event) -> None:
        """An event, in the order in which events were written."""

    def close(self) -> None:
        """Nothing comes any more."""


@dataclass(frozen=True)
class Scalar:
    """A number that an event tells, under a name, at a step."""

    name: str
    value: float
    step: int


def scalars(event: Event) -> Iterator[Scalar]:
    """The numbers in an event: accuracies, calibration and probes by tasks learned, losses by steps.

    >>> list(scalars({"event": "accuracy", "after_task": 1, "view": "task-masked", "inference": None, "row": [90.0, 98.0]}))[0]
    Scalar(name='accuracy/task-masked/mean', value=94.0, step=2)
    """
    match event["event"]:
        case "accuracy":
            name = "/".join(filter(None, ("accuracy", event["view"], event["inference"])))
            row, step = event["row"], event["after_task"] + 1
            yield Scalar(f"{name}/mean", sum(row) / len(row), step)
            for task, value in enumerate(row, start=1):
                yield Scalar(f"{name}/task {task}", value, step)
        case "calibration":
            name = "/".join(filter(None, (event["view"], event["inference"])))
            for kind in AFTER_EACH_TASK:
                yield Scalar(f"{kind}/{name}", event[kind], event["after_task"] + 1)
        case "probe":
            for kind, value in event["values"].items():
                yield Scalar(f"probe/{kind}/task {event['task'] + 1}", value, event["after_task"] + 1)
        case "losses":
            for kind, curve in event["curves"].items():
                for step, value in enumerate(curve, start=1):
                    yield Scalar(f"loss/{kind}/task {event['task'] + 1}", value, step)


def seconds(event: Event) -> float:
    """When the event was written, in seconds since 1970."""
    return datetime.fromisoformat(event["time"]).timestamp()


class Relay:
    """Listens to a run folder and hands its events to a sink, which it makes at the first one."""

    def __init__(self, name: SinkName, make: Callable[[RunFolder], Sink], say: Callable[[str], None]) -> None:
        self._name = name
        self._make = make
        self._say = say
        self._sink: Sink | None = None
        self._failed = False

    def __call__(self, folder: RunFolder, event: Event) -> None:
        """An event has been written to the folder."""
        if self._failed:
            return
        try:
            self._hand_over(folder, event)
        except Exception as error:  # whatever goes wrong there must not cost a run
            self._failed = True
            self._say(f"The sink {self._name} failed ({type(error).__name__}: {error}); the run goes on without it.")

    def _hand_over(self, folder: RunFolder, event: Event) -> None:
        if self._sink is None:
            self._sink = self._make(folder)
            due = folder.events()  # this event is the last of them
        else:
            due = [event]
        for each in due:
            self._sink.take(each)
        if event["event"] in LAST:
            self._sink.close()
            self._sink = None


def relays(names: Sequence[SinkName], say: Callable[[str], None]) -> list[Relay]:
    """A listener for each sink named; one whose package is not installed is refused before any work."""
    return [Relay(name, _maker(name), say) for name in dict.fromkeys(names)]


def _maker(name: SinkName) -> Callable[[RunFolder], Sink]:
    if importlib.util.find_spec(name) is None:
        raise UsageError(
            f"The sink {name} needs the package {name}, which is not installed; `pip install 'merlin-cl[{name}]'` adds it."
        )
    module, _, attribute = SINKS[name].partition(":")
    maker: Callable[[RunFolder], Sink] = getattr(importlib.import_module(module), attribute)
    return maker
