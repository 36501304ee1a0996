"""What the settings of all streams have in common.

Free of torch, so that `merlin run --help` answers at once; the function that builds the stream is named by a string and
imported when it is called.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
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
    data_sets: ClassVar[tuple[str, ...]] = ()
    """The data sets it reads, by their names in the catalogue."""
    other_kinds: ClassVar[tuple[str, ...]] = ()
    """Data sets of another kind of input, which a learner should find stranger than its own; used where they are present."""

    features: str = field(default="", kw_only=True)
    """What to learn from in place of the inputs themselves: the name of features (efficientnet-lite0, minilm, hashing), the path
    of an .onnx file, or package.module:factory. They are computed once and kept on disk."""

    @abstractmethod
    def info(self, data: str | Path | None = None) -> StreamInfo:
        """What is known before the first task, without building the stream and without a look at features. Only of your own data
        is `data` looked at."""

    def learner_info(self, data: str | Path | None = None) -> StreamInfo:
        """What a learner is told: `info`, with the shape of features where there are any."""
        info = self.info(data)
        if not self.features:
            return info
        from merlin_cl.features import Features
        from merlin_cl.features.raw import form_of_shape

        size = Features.named(self.features).size(form_of_shape(info.input_shape))
        return replace(info, input_shape=(size,), mirrored=False)

    def outline(self) -> StreamInfo:
        """What can be said before there are any data, for the help and for a table of results."""
        return self.info()

    def title(self, data: str | Path | None = None) -> str:
        """What runs on the stream are called."""
        return self.stream + self._suffix

    def build(self, seed: int, data: str | Path | None = None) -> Stream:
        """The stream that a seed gives; `data` is the folder to read from (None: see `places.py`)."""
        module, _, name = self.builder.partition(":")
        stream: Stream = getattr(importlib.import_module(module), name)(self, seed, data)
        if not self.features or stream.features is not None:
            return stream
        from merlin_cl.features import Features

        return stream.in_features(Features.named(self.features))

    def record(self) -> dict[str, Any]:
        """All settings as plain values, for the run folder. Features are left out where there are none: earlier versions knew
        nothing of them, and the same run is to have the same name."""
        return {name: value for name, value in asdict(self).items() if name != "features" or value}

    @property
    def _suffix(self) -> str:
        """What the features add to the name of the stream, in letters that suit the name of a folder."""
        return f"-in-{re.sub(r'[^a-zA-Z0-9.-]+', '-', Path(self.features).name)}" if self.features else ""

    def _require_at_least_one(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} is {value}; it must be a whole number of at least 1.")


@dataclass(frozen=True)
class CountedSettings(StreamSettings):
    """Settings of a stream whose number of tasks can be chosen. A base of its own, so that the number comes first."""

    tasks: int = 10
    """Number of tasks."""


@dataclass(frozen=True)
class DrawnSettings(StreamSettings):
    """Settings of a stream whose tasks draw their training examples from published data sets."""

    images_per_task: int = 2500
    """Training images a task, drawn afresh for each seed and task; 0: all that the data set has of its classes."""
    evaluation: Evaluation = "test"
    """Where accuracy is measured: on the test set, or on training images that no task draws for training, so that settings
    can be chosen without a look at test data."""

    def __post_init__(self) -> None:
        if not isinstance(self.images_per_task, int) or self.images_per_task < 0:
            raise UsageError(
                f"images_per_task is {self.images_per_task}; it must be a whole number, 0 for all there are."
            )
        if self.evaluation not in ("test", "held-out"):
            raise unknown("evaluation", self.evaluation, ("test", "held-out"))
