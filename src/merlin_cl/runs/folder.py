"""The folder of a run: files that are whole or not there, an append-only log, a lock. Free of torch."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.regular_files import open_regular, read_regular
from merlin_cl.runs.config import FORMAT, RunConfig
from merlin_cl.runs.result import FaultError, check
from merlin_cl.statefile import clear_leftovers, write_whole

if sys.platform != "win32":
    import fcntl

RESTORE = "restore it or delete its folder."
LARGEST_RECORD, LARGEST_LOG = 1 << 26, 1 << 29
"""Bytes of a JSON file, and of events.jsonl, that are read; those that runs write have a thousandth of it."""

Listener = Callable[["RunFolder", dict[str, Any]], None]
"""Called with the folder and an event once the event has been written."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path, listeners: Sequence[Listener] = ()) -> None:
        self.path = path
        self.listeners = listeners
        self.checkpoints = path / "checkpoint"
        self.model = path / "model.safetensors"

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run folder."""
        if not (path / "config.json").is_file():
            what = "has no config.json, so it is not a run folder" if path.is_dir() else "is not a folder"
            raise UsageError(f"{path} {what}; `merlin list` shows the runs there are.")
        return cls(path)

    def make(self) -> None:
        """Make sure the folder is there and can be written to."""
        try:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
            (self.path / "lock").touch()
        except OSError as error:
            raise MerlinError(f"Cannot write to {self.path}: {error.strerror}; choose a folder with --out.") from None

    def claim(self, config: RunConfig) -> None:
        """Make this the folder of `config`; to be called with the lock held."""
        if not (self.path / "config.json").exists():
            write_json(self.path / "config.json", config.record())
        elif self.config().digest != config.digest:
            raise UsageError(
                f"{self.path} holds a run with other settings; move it away or choose another folder with --out."
            )

    def config(self) -> RunConfig:
        """The settings of the run."""
        try:
            return RunConfig.from_record(self.config_record())
        except (KeyError, TypeError) as error:
            raise MerlinError(f"{self.path / 'config.json'} is damaged ({error!r}); restore it or delete it.") from None

    def config_record(self) -> dict[str, Any]:
        """The content of config.json, once its format is known to be one we read."""
        record = read_json(self.path / "config.json")
        written = record.get("format")
        if not isinstance(written, int):
            raise MerlinError(f"{self.path / 'config.json'} names no format, so it is not the configuration of a run.")
        if written > FORMAT:
            raise MerlinError(
                f"{self.path} was written by a newer merlin-cl (format {written}; this one reads up to {FORMAT}); "
                "upgrade merlin-cl to use it."
            )
        return record

    @property
    def finished(self) -> bool:
        """Whether the result is there."""
        return (self.path / "result.json").is_file()

    def result(self) -> dict[str, Any]:
        """The content of result.json."""
        if not self.finished:
            raise MerlinError(f"{self.path} is not finished; `{merlin('resume', self.path)}` goes on with it.")
        self.config_record()
        result = read_json(self.path / "result.json")
        try:
            check(result)
        except FaultError as fault:
            raise MerlinError(f"{self.path / 'result.json'} is damaged ({fault}); {RESTORE}") from None
        return result

    def write_result(self, result: dict[str, Any]) -> None:
        """Write result.json: from here on the run is finished."""
        write_json(self.path / "result.json", result)

    def environment(self) -> dict[str, Any] | None:
        """The content of env.json, None before the first start."""
        path = self.path / "env.json"
        return read_json(path) if path.is_file() else None

    def write_environment(self, environment: dict[str, Any]) -> None:
        """Write env.json."""
        write_json(self.path / "env.json", environment)

    def log(self, event: str, **values: Any) -> None:
        """Append an event to events.jsonl. A line torn by a kill is closed first, so that it spoils no other."""
        entry = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **values}
        line = json.dumps(entry)
        path = self.path / "events.jsonl"
        try:
            with path.open("ab+") as file:
                if file.tell() and not _ends_line(file):
                    line = "\n" + line
                file.write(line.encode() + b"\n")
        except OSError as error:
            error.filename = str(path)  # a full disk names no file
            raise
        for listener in self.listeners:
            listener(self, entry)

    def events(self) -> list[dict[str, Any]]:
        """All events that were written whole."""
        path = self.path / "events.jsonl"
        try:
            lines = read_regular(path, LARGEST_LOG).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise MerlinError(f"{path} cannot be read ({error.strerror}); {RESTORE}") from None
        return [event for event in map(_parsed, lines) if event is not None]

    def clear(self) -> None:
        """Forget everything but the settings. The result goes first: a run half cleared is a run not finished."""
        (self.path / "result.json").unlink(missing_ok=True)
        for checkpoint in self.checkpoints.glob("*"):
            checkpoint.unlink()
        self.model.unlink(missing_ok=True)
        (self.path / "events.jsonl").unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from working on this run. The lock goes with the process, however it ends; what a process that
        was killed had begun to write goes now."""
        refusal = f"Another process is working on {self.path}; wait for it to end or stop it first."
        with exclusive(self.path / "lock", refusal):
            for folder in (self.path, self.checkpoints):
                clear_leftovers(folder)
            yield

    @property
    def busy(self) -> bool:
        """Whether a process is working on this run."""
        try:
            with open_regular(self.path / "lock") as file:
                return not _try_lock(file.fileno())
        except OSError:
            return False


def run_folders(root: Path) -> list[RunFolder]:
    """Every run folder directly under `root`, by name."""
    if not root.is_dir():
        return []
    return [RunFolder(path.parent) for path in sorted(root.glob("*/config.json"))]


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    write_whole(path, (json.dumps(value, indent=1) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object that `write_json` wrote."""
    try:
        value = json.loads(read_regular(path, LARGEST_RECORD))
    except (ValueError, RecursionError) as error:
        raise MerlinError(f"{path} is damaged ({error}); {RESTORE}") from None
    except OSError as error:
        raise MerlinError(f"{path} cannot be read ({error.strerror}); {RESTORE}") from None
    if not isinstance(value, dict):
        raise MerlinError(f"{path} holds no JSON object; {RESTORE}")
    return value


@contextmanager
def exclusive(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock of a file, or fail with a sentence where another process has it."""
    with path.open("a") as file:
        if not _try_lock(file.fileno()):
            raise MerlinError(refusal)
        yield


def _ends_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
