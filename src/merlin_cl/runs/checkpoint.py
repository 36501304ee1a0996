"""Checkpoints: the state of a run after each task, the last two kept; where the newest is damaged, the one before serves."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import NamedTuple

from merlin_cl.errors import MerlinError
from merlin_cl.statefile import DamagedError, State, encode, opened, write_whole

KEPT = 2


class DamagedCheckpoint(NamedTuple):
    """A checkpoint that cannot be used, and why."""

    path: Path
    reason: str


class Latest(NamedTuple):
    """The newest checkpoint that is whole."""

    state: State | None
    """None where there is none: the run begins from the start."""
    path: Path | None
    damaged: tuple[DamagedCheckpoint, ...]
    """Newer ones, the newest first."""


class Checkpoints:
    """The checkpoints of one run, one a task, the last two kept."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder = folder
        self.run = run  # the digest of the settings: a checkpoint of other settings is refused

    def save(self, tasks_done: int, state: State) -> Path:
        """Write the state after so many tasks, then drop the oldest checkpoints."""
        path = self.folder / f"task-{tasks_done:03d}.safetensors"
        write_whole(path, encode(state, {"run": self.run, "tasks_done": str(tasks_done)}))
        for old in self.paths()[:-KEPT]:
            old.unlink()
        return path

    def latest(self) -> Latest:
        """The newest checkpoint that is whole."""
        damaged: list[DamagedCheckpoint] = []
        for path in reversed(self.paths()):
            try:
                return Latest(self._read(path), path, tuple(damaged))
            except DamagedError as error:
                damaged.append(DamagedCheckpoint(path, str(error)))
            except OSError as error:
                if error.errno != errno.EIO:  # of a disk that fails
                    raise
                damaged.append(DamagedCheckpoint(path, str(error.strerror)))
        return Latest(None, None, tuple(damaged))

    def set_aside(self, path: Path) -> Path:
        """Rename a damaged checkpoint, so that nobody takes it for the newest again."""
        return path.replace(path.with_suffix(".damaged"))

    def paths(self) -> list[Path]:
        """The checkpoint files, oldest first."""
        return sorted(self.folder.glob("task-*.safetensors"))

    def _read(self, path: Path) -> State:
        with opened(path) as file:
            state = file.state()
        if "run" not in file.labels:
            raise DamagedError("it does not say of which run it is")
        if file.labels["run"] != self.run:
            raise MerlinError(
                f"The checkpoint {path} belongs to a run with other settings; delete it and the run goes on without it."
            )
        return state
