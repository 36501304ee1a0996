"""What a search is: a method, the first tasks of a stream or one's own data, seeds. Free of torch."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import COMPARED, input_kind
from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.learners.search_space import Space
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.settings.base import CountedSettings, DrawnSettings
from merlin_cl.streams.settings.user_data import OwnSettings

FIRST = 3
"""Tasks of a stream that a trial learns, unless told otherwise."""

FORMAT = 1
"""The version of the files of a search."""


@dataclass(frozen=True)
class Plan:
    """A search. The same plan makes the same trials, however often it is interrupted."""

    method: type[MethodSettings]
    stream: StreamSettings
    """Its first tasks, or a user's own data; scored on held-out training examples."""
    seeds: tuple[int, ...] = (100, 101)
    """Every trial learns the stream once for each; not those that results are reported for."""
    batch_size: int = 10
    data: str | None = None
    """The folder that data sets are looked for in; of a user's own data, the file or folder itself."""

    def __post_init__(self) -> None:
        if not self.method.space:
            searched = ", ".join(name for name in method_names() if method_settings(name).space)
            raise UsageError(f"{self.method.method} names no settings to search; choose from: {searched}.")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            raise UsageError(f"seeds are {list(self.seeds)}; give at least one, each once, none below 0.")
        if self.batch_size < 1:
            raise UsageError(f"batch_size is {self.batch_size}; it must be at least 1.")
        if getattr(self.stream, "evaluation", "test") != "held-out":
            raise UsageError("A search looks at no test data: leave evaluation at held-out.")
        if not self.space:
            raise UsageError(
                f"{self.method.method} names only settings that all methods share on photographs; search it on another stream."
            )

    @property
    def title(self) -> str:
        """What the stream is called: its name, or that of the user's file or folder."""
        return self.stream.title(self.data)

    @cached_property
    def info(self) -> StreamInfo:
        """What is known of the stream before its first task."""
        return self.stream.learner_info(self.data)

    @cached_property
    def space(self) -> Space:
        """Where it looks. On a benchmark of photographs the means that all methods share stay as they are: what updates cost
        is what makes methods comparable there."""
        shared = not isinstance(self.stream, OwnSettings) and input_kind(self.info) == "photographs"
        return {name: part for name, part in self.method.space.items() if not (shared and name in COMPARED)}

    @property
    def start(self) -> dict[str, Any]:
        """The first trial: the values that searched settings have without a search."""
        settings = self.method.untuned(self.info)
        return {name: getattr(settings, name) for name in self.space}

    def settings(self, values: dict[str, Any]) -> MethodSettings:
        """The method's settings with some values."""
        return replace(self.method.preset("default", self.info), **values)

    def record(self) -> dict[str, Any]:
        """Plain values: all that influences the outcome but the data."""
        return {
            "format": FORMAT,
            "method": self.method.method,
            "stream": {"name": self.title, **self._kind, **self.stream.record()},
            "seeds": list(self.seeds),
            "batch_size": self.batch_size,
            "space": {name: part.record() for name, part in self.space.items()},
            "others": {
                name: value for name, value in self.settings(self.start).record().items() if name not in self.start
            },
        }

    @property
    def name(self) -> str:
        """The name of the search's folder: searches that differ in anything have different ones."""
        digest = hashlib.sha256(json.dumps(self.record(), sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.title}-{self.method.method}-{digest}"

    @property
    def _kind(self) -> dict[str, str]:
        """Which settings those of the stream are, where its name does not say so."""
        return {} if self.title == self.stream.stream else {"kind": self.stream.stream}


def searched(stream: type[StreamSettings]) -> StreamSettings:
    """The settings with which a search learns a stream: its first tasks, or all of a user's own data, scored on training examples
    that no task learns from."""
    settings: Any = stream
    if issubclass(stream, OwnSettings):
        own: StreamSettings = settings(evaluation="held-out")
        return own
    if not (issubclass(stream, DrawnSettings) and issubclass(stream, CountedSettings)):
        raise UsageError(
            f"{stream.stream} has no held-out training images of a number of first tasks; choose another stream."
        )
    first: StreamSettings = settings(tasks=min(FIRST, stream.tasks), evaluation="held-out")
    return first
