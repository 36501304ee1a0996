"""A run that a grid is to compute: checked against its data before anything starts, found again in a folder by what it is."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merlin_cl.errors import MerlinError
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.progress import Display

if TYPE_CHECKING:
    from merlin_cl.protocol import StreamInfo


@dataclass(frozen=True)
class Job:
    """A run to compute: its configuration, with the data named in words but without their checksum, which takes them all."""

    config: RunConfig

    @cached_property
    def identity(self) -> str:
        """Eight letters that differ for runs that differ; known before the data of this very seed have been drawn."""
        return identity(self.config)

    @cached_property
    def kind(self) -> str:
        """The same for runs that differ in their seed alone: they take about as long."""
        return identity(replace(self.config, seed=0))

    @property
    def stem(self) -> str:
        """How the name of its folder begins."""
        return f"{self.config.stream.title(self.config.data)}-{self.config.method.method}-s{self.config.seed}-"

    def folder(self, root: Path) -> RunFolder | None:
        """Its folder below `root`, None where there is none yet."""
        if not root.is_dir():
            return None
        for name in sorted(entry.name for entry in os.scandir(root) if entry.name.startswith(self.stem)):
            if _identity_in(root / name / "config.json") == self.identity:
                return RunFolder(root / name)
        return None


def _identity_in(path: Path) -> str | None:
    """What the run with this configuration is; None where there is none, or one that cannot be read."""
    try:
        written = path.stat()
    except OSError:
        return None
    return _read_identity(path, written.st_mtime_ns, written.st_size)


@functools.cache
def _read_identity(path: Path, modified: int, size: int) -> str | None:
    """Remembered for as long as the file is the same: a grid of a thousand runs asks for each a thousand times."""
    try:
        return identity(RunFolder(path.parent).config())
    except MerlinError:
        return None  # somebody else's damaged run


def identity(config: RunConfig) -> str:
    """What a run is, whichever images its seed draws."""
    return replace(config, fingerprint="").digest


def tasks_done(folder: RunFolder | None) -> int:
    """How many tasks of a run are safe in its newest checkpoint."""
    files = [] if folder is None else folder.checkpoints.glob("task-*.safetensors")
    return max((int(path.stem.removeprefix("task-")) for path in files), default=0)


class Checker:
    """Makes jobs of configurations, refusing what would fail later: data that are missing, a method that cannot take them."""

    def __init__(self, show: Display) -> None:
        self._show = show
        self._found: dict[str, tuple[RunConfig, StreamInfo]] = {}
        self._tried: set[str] = set()

    def jobs(self, configs: Iterable[RunConfig]) -> list[Job]:
        """A job for each configuration."""
        listed = list(configs)
        jobs = []
        for number, config in enumerate(listed, start=1):
            jobs.append(self.job(config))
            self._show.update("checking the grid", number, len(listed))
        return jobs

    def job(self, config: RunConfig) -> Job:
        """A job; each stream is built once, whatever the seed, and each method is tried on it once."""
        from merlin_cl.learners.devices import usable_device
        from merlin_cl.runs.description import described_stream
        from merlin_cl.runs.evaluate import questions

        said = {name: getattr(config.method, name, None) for name in ("descriptor", "words")}
        stream = repr((config.stream, config.data, said))
        if stream not in self._found:
            usable_device(config.device)
            built = described_stream(config, self._show)
            self._found[stream] = (config.having(built), built.info)
        known, info = self._found[stream]
        method = repr((stream, config.method, config.inference, config.device))
        if method not in self._tried:
            questions(config.method.build(info, config.seed, config.device), info, config.inference)
            self._tried.add(method)
        return Job(replace(config, source=known.source, tasks=known.tasks))


def described(config: RunConfig) -> dict[str, Any]:
    """A run in brief, for grid.json."""
    return {
        "stream": config.stream.title(config.data),
        "method": config.method.method,
        "preset": config.preset,
        "seed": config.seed,
        "tasks": config.tasks,
    }
