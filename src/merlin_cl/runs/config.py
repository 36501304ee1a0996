"""What a run is made of: a stream, a method, a seed and how they are run. Free of torch."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self, get_args

from merlin_cl.errors import UsageError, unknown
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.retired import without_retired
from merlin_cl.learners.setting_values import from_own_record
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import Inference
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.settings import StreamSettings

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

FORMAT = 1
"""The version of the run folder; raised when an older merlin-cl could no longer read what this one writes."""

MOST_THREADS = 1024
"""With far more than a machine has cores, starting them ends the process."""
LARGEST = 2**63 - 1

LABELS = ("preset", "data", "place", "tasks")
"""What does not influence the result: the same data in another place give the same run."""


@dataclass(frozen=True)
class RunConfig:
    """All that influences the result of a run, and labels that do not (`preset`, `data`, `place`, `tasks`)."""

    stream: StreamSettings
    method: MethodSettings
    seed: int = 0
    batch_size: int = 10
    inference: str = "all"
    """One inference mode, or `all` that the method has."""
    device: str = "cpu"
    threads: int = 1
    preset: str = "default"
    """Where the settings of the method came from before single ones were changed."""
    data: str | None = None
    """The folder in which data sets were looked for first; of a user's own data, the file or folder itself."""
    source: str = ""
    """Which data were found, in the words of the stream: other data give another result."""
    fingerprint: str = ""
    """The checksum of their content."""
    place: str = ""
    """Where they were found."""
    tasks: int = 0
    """How many tasks the stream has; 0 until it has been built."""

    def __post_init__(self) -> None:
        if self.device == "auto":  # a record says where it was computed
            from merlin_cl.learners.devices import usable_device

            object.__setattr__(self, "device", str(usable_device(self.device)))
        for name, least, most in (("seed", 0, LARGEST), ("batch_size", 1, LARGEST), ("threads", 1, MOST_THREADS)):
            value = getattr(self, name)
            if value < least:
                raise UsageError(f"{name} is {value}; it must be at least {least}.")
            if value > most:
                raise UsageError(f"{name} is {value}; it must be at most {most}.")
        if self.inference not in ("all", *get_args(Inference)):
            raise unknown("inference mode", self.inference, ("all", *get_args(Inference)))

    def build_stream(self) -> Stream:
        """The stream, its data loaded."""
        return self.stream.build(self.seed, self.data)

    def having(self, stream: Stream) -> RunConfig:
        """The same with the data named that were found."""
        return replace(
            self, source=stream.source, fingerprint=stream.fingerprint, place=stream.place, tasks=stream.info.tasks
        )

    @property
    def digest(self) -> str:
        """Eight letters that differ for settings that differ in anything that influences the result."""
        matters = {key: value for key, value in self.record().items() if key not in LABELS}
        matters["stream"]["name"] = self.stream.stream  # a user's own data may be given another name
        return hashlib.sha256(json.dumps(matters, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def name(self) -> str:
        """The name of the run folder."""
        return f"{self.stream.title(self.data)}-{self.method.method}-s{self.seed}-{self.digest}"

    def record(self) -> dict[str, Any]:
        """The content of config.json."""
        return {
            "format": FORMAT,
            "stream": {"name": self.stream.title(self.data), **self._kind(), **self.stream.record()},
            "method": {"name": self.method.method, **self.method.record()},
        } | {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("stream", "method")}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """The configuration that `record` was written from."""
        stream, method = dict(record["stream"]), dict(record["method"])
        name, kind = stream.pop("name"), method_settings(method.pop("name"))
        rest = {field.name: record[field.name] for field in fields(cls) if field.name not in ("stream", "method")}
        return cls(
            stream=from_own_record(stream_settings(stream.pop("kind", name)), stream, "config.json"),
            method=from_own_record(kind, without_retired("config.json", kind.method, method), "config.json"),
            **rest,
        )

    def _kind(self) -> dict[str, str]:
        """Which settings those of the stream are, where its name does not say so."""
        return {"kind": self.stream.stream} if self.stream.title(self.data) != self.stream.stream else {}
