"""How far a grid has come: `grid.json` in its folder, whole at every moment, for those who watch and for whoever comes later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from merlin_cl.metrics import mean
from merlin_cl.runs.folder import write_json
from merlin_cl.runs.jobs import Job, described

FORMAT = 1
FILE = "grid.json"
Status = Literal["queued", "running", "done", "failed"]


@dataclass
class Entry:
    """One run of the grid, and what has become of it."""

    job: Job
    run: str | None = None
    """The name of its folder, once it has one."""
    status: Status = "queued"
    reason: str | None = None
    """Why it failed last."""
    tries: int = 0
    seconds: float | None = None
    """How long it took; of one that was finished before, its CPU time."""
    begun: float = 0.0

    def record(self) -> dict[str, Any]:
        """Plain values."""
        told = {name: getattr(self, name) for name in ("run", "status", "reason", "tries", "seconds")}
        return {**described(self.job.config), **told}


@dataclass
class GridState:
    """All runs of a grid, in the order in which they are begun."""

    entries: list[Entry]
    engine: str = "local"
    clock: Callable[[], float] = time.monotonic
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def of(self, *statuses: Status) -> list[Entry]:
        """The entries that are in one of these states."""
        return [entry for entry in self.entries if entry.status in statuses]

    def begin(self, entry: Entry) -> None:
        """An entry is being worked on."""
        entry.status, entry.begun = "running", self.clock()
        entry.tries += 1

    def end(self, entry: Entry, reason: str | None, retries: int) -> None:
        """An entry is done, has failed, or is to be tried again after all others."""
        entry.reason = reason
        entry.seconds = None if reason else round(self.clock() - entry.begun, 3)
        if reason is None:
            entry.status = "done"
        elif entry.tries > retries:
            entry.status = "failed"
        else:
            entry.status = "queued"
            self.entries.remove(entry)
            self.entries.append(entry)

    def seconds_left(self, slots: int, progress: Callable[[Entry], float]) -> float | None:
        """When all will be done, from how long others of the same kind took; None while nothing is known.

        `progress` is the part of a running entry that is done, from 0 to 1.
        """
        known: dict[str, list[float]] = {}
        for entry in self.of("done"):
            if entry.seconds is not None:
                known.setdefault(entry.job.kind, []).append(entry.seconds)
        ahead = []
        for entry in self.of("running"):
            part, spent = progress(entry), self.clock() - entry.begun
            if part > 0:
                known.setdefault(entry.job.kind, []).append(spent / part)
            expected = _expected(entry, known)
            ahead.append(None if expected is None else max(0.0, expected * (1 - part)))
        ahead += [_expected(entry, known) for entry in self.of("queued")]
        if any(seconds is None for seconds in ahead):
            return None
        seconds = [value for value in ahead if value is not None]
        return max([sum(seconds) / slots, *seconds], default=0.0)

    def write(self, root: Path, left: float | None) -> None:
        """Write grid.json."""
        counts = {status: len(self.of(status)) for status in ("queued", "running", "done", "failed")}
        write_json(
            root / FILE,
            {
                "format": FORMAT,
                "engine": self.engine,
                "started": self.started,
                "updated": datetime.now(UTC).isoformat(timespec="seconds"),
                "counts": counts,
                "seconds_left": None if left is None else round(left),
                "runs": [entry.record() for entry in self.entries],
            },
        )


def _expected(entry: Entry, known: dict[str, list[float]]) -> float | None:
    """How long a run takes: as its like, or as the others."""
    like = known.get(entry.job.kind) or [seconds for several in known.values() for seconds in several]
    return mean(like) if like else None


def state_of(jobs: Iterable[Job], root: Path, finished: Callable[[Job], bool], engine: str) -> GridState:
    """The state before anything starts: what is finished already is done."""
    entries = []
    for job in {job.identity: job for job in jobs}.values():
        entry = Entry(job)
        if finished(job) and (folder := job.folder(root)) is not None:
            entry.status, entry.run = "done", folder.path.name
            entry.seconds = sum(folder.result()["cost"]["cpu_seconds"].values())
        entries.append(entry)
    return GridState(entries, engine)
