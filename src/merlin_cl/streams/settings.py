"""Settings of a stream: one frozen dataclass that is the Python signature, the command line and the record of a run.

Free of torch, so that `merlin run --help` answers at once; the function that builds the stream is named by a string and
imported when it is called.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from merlin_cl.errors import UsageError, unknown
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

Evaluation = Literal["test", "held-out"]


@dataclass(frozen=True)
class StreamSettings(ABC):
    """Base of every stream's settings. A subclass adds its fields and names the function that builds the stream."""

    stream: ClassVar[str]
    """The name on the command line."""
    builder: ClassVar[str]
    """What builds the stream, as `package.module:function`; it is called with (settings, seed, data)."""

    @abstractmethod
    def info(self) -> StreamInfo:
        """What is known before the first task, without building the stream."""

    def build(self, seed: int, data: str | Path | None = None) -> Stream:
        """The stream that a seed gives; `data` is the folder to read from (None: see `sources.py`)."""
        module, _, name = self.builder.partition(":")
        stream: Stream = getattr(importlib.import_module(module), name)(self, seed, data)
        return stream

    def record(self) -> dict[str, Any]:
        """All settings as plain values, for the run folder."""
        return asdict(self)


@dataclass(frozen=True)
class MnistSettings(StreamSettings):
    """What the MNIST streams have in common. The defaults are the paper's protocol."""

    domain_incremental: ClassVar[bool]
    most_tasks: ClassVar[int | None] = None

    tasks: int
    """Number of tasks."""
    images_per_task: int = 1000
    """Training images a task, drawn afresh for each seed and task."""
    evaluation: Evaluation = "test"
    """Where accuracy is measured: on the test set, or on training images that no task draws for training, so that settings
    can be chosen without a look at test data."""

    def __post_init__(self) -> None:
        for name in ("tasks", "images_per_task"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} is {value}; it must be a whole number of at least 1.")
        if self.most_tasks is not None and self.tasks > self.most_tasks:
            raise UsageError(f"tasks is {self.tasks}; {self.stream} has at most {self.most_tasks} tasks.")
        if self.evaluation not in ("test", "held-out"):
            raise unknown("evaluation", self.evaluation, ("test", "held-out"))

    def info(self) -> StreamInfo:
        """One channel of 28 by 28 pixels, one head for ten digits."""
        return StreamInfo(
            name=self.stream,
            input_shape=(1, 28, 28),
            classes=10,
            tasks=self.tasks,
            domain_incremental=self.domain_incremental,
        )


@dataclass(frozen=True)
class SplitMnistSettings(MnistSettings):
    """Two new digits a task: 0 and 1, then 2 and 3, and so on."""

    stream: ClassVar[str] = "split-mnist"
    builder: ClassVar[str] = "merlin_cl.streams.split_mnist:build"
    domain_incremental: ClassVar[bool] = False
    most_tasks: ClassVar[int | None] = 5

    tasks: int = 5
    """Number of tasks, two digits each: 1 to 5."""


@dataclass(frozen=True)
class PermutedMnistSettings(MnistSettings):
    """All ten digits in every task, their pixels in an order of the task's own."""

    stream: ClassVar[str] = "permuted-mnist"
    builder: ClassVar[str] = "merlin_cl.streams.permuted_mnist:build"
    domain_incremental: ClassVar[bool] = True

    tasks: int = 10
    """Number of tasks, each with a permutation of its own (the first one too)."""


@dataclass(frozen=True)
class RotatedMnistSettings(MnistSettings):
    """All ten digits in every task, turned further from task to task."""

    stream: ClassVar[str] = "rotated-mnist"
    builder: ClassVar[str] = "merlin_cl.streams.rotated_mnist:build"
    domain_incremental: ClassVar[bool] = True

    tasks: int = 10
    """Number of tasks; the first one is upright."""
    degrees_per_task: float = 18.0
    """How much further each task is turned, counterclockwise; ten tasks of 18 degrees stay within half a turn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.degrees_per_task):
            raise UsageError(f"degrees_per_task is {self.degrees_per_task}; give a finite number of degrees.")
