"""What a search is: a method, the first tasks of a stream, seeds. Free of torch."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, replace
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.settings.base import CountedSettings, DrawnSettings

FORMAT = 1
"""The version of the files of a search."""


@dataclass(frozen=True)
class Plan:
    """A search. The same plan makes the same trials, however often it is interrupted."""

    method: type[MethodSettings]
    stream: StreamSettings
    """Its first tasks, scored on held-out training images."""
    seeds: tuple[int, ...] = (100, 101)
    """Every trial learns the stream once for each; not those that results are reported for."""
    batch_size: int = 10

    def __post_init__(self) -> None:
        if not self.method.space:
            searched = ", ".join(name for name in method_names() if method_settings(name).space)
            raise UsageError(f"{self.method.method} names no settings to search; choose from: {searched}.")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            raise UsageError(f"seeds are {list(self.seeds)}; give at least one, each once, none below 0.")
        if self.batch_size < 1:
            raise UsageError(f"batch_size is {self.batch_size}; it must be at least 1.")

    @property
    def start(self) -> dict[str, Any]:
        """The first trial: the values that searched settings have without a search."""
        values = {field.name: field.default for field in fields(self.method)}
        return {name: values[name] for name in self.method.space}

    def settings(self, values: dict[str, Any]) -> MethodSettings:
        """The method's settings with some values."""
        return replace(self.method.preset("default", self.stream.info()), **values)

    def record(self) -> dict[str, Any]:
        """Plain values: all that influences the outcome but the data."""
        return {
            "format": FORMAT,
            "method": self.method.method,
            "stream": {"name": self.stream.stream, **self.stream.record()},
            "seeds": list(self.seeds),
            "batch_size": self.batch_size,
            "space": {name: part.record() for name, part in self.method.space.items()},
            "others": {
                name: value for name, value in self.settings(self.start).record().items() if name not in self.start
            },
        }

    @property
    def name(self) -> str:
        """The name of the search's folder: searches that differ in anything have different ones."""
        digest = hashlib.sha256(json.dumps(self.record(), sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.stream.stream}-{self.method.method}-{digest}"


def first_tasks(stream: type[StreamSettings], tasks: int) -> StreamSettings:
    """The first tasks of a stream, scored on training images that no task learns from."""
    if not (issubclass(stream, DrawnSettings) and issubclass(stream, CountedSettings)):
        raise UsageError(
            f"{stream.stream} has no held-out training images of a number of first tasks; choose one that `--tasks` suits."
        )
    settings: Any = stream
    found: StreamSettings = settings(tasks=tasks, evaluation="held-out")
    return found
