"""How far a grid has come: `grid.json` in its folder, whole at every moment, for those who watch and for whoever comes later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from merlin_cl.runs.cost import Costs
from merlin_cl.runs.folder import write_json
from merlin_cl.runs.jobs import Job, described

FORMAT = 1
FILE = "grid.json"
Status = Literal["queued", "running", "done", "failed"]


@dataclass
class JobState:
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


class Cost(NamedTuple):
    """What an entry takes, in seconds, and what of that is left."""

    seconds: float
    left: float


@dataclass
class GridState:
    """All runs of a grid, in the order in which they are begun."""

    entries: list[JobState]
    engine: str = "local"
    clock: Callable[[], float] = time.monotonic
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def of(self, *statuses: Status) -> list[JobState]:
        """The entries that are in one of these states."""
        return [entry for entry in self.entries if entry.status in statuses]

    def begin(self, entry: JobState) -> None:
        """An entry is being worked on."""
        entry.status, entry.begun = "running", self.clock()
        entry.tries += 1

    def end(self, entry: JobState, reason: str | None, retries: int) -> None:
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

    def costs(self, progress: Callable[[JobState], float]) -> dict[int, Cost] | None:
        """Seconds that each entry takes and seconds of them that are left, by its id; None while nothing is known of any.

        `progress` is the part of a running entry that is done, from 0 to 1.
        """
        known, parts = Costs(), {id(entry): progress(entry) for entry in self.of("running")}
        for entry in self.of("done"):
            if entry.seconds is not None:
                known.add(entry.job, entry.seconds)
        for entry in self.of("running"):
            if parts[id(entry)] > 0:
                known.add(entry.job, (self.clock() - entry.begun) / parts[id(entry)])
        costs = {}
        for entry in self.entries:
            seconds = entry.seconds if entry.status == "done" else known.expected(entry.job)
            if seconds is None:
                return None
            left = {"queued": seconds, "running": seconds * (1 - parts.get(id(entry), 0.0))}.get(entry.status, 0.0)
            costs[id(entry)] = Cost(seconds, max(0.0, left))
        return costs

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


def seconds_left(costs: dict[int, Cost], slots: int) -> float:
    """When all will be done, so many at a time: never before the longest of them."""
    ahead = [cost.left for cost in costs.values()]
    return max([sum(ahead) / slots, *ahead], default=0.0)


def state_of(jobs: Iterable[Job], root: Path, finished: Callable[[Job], bool], engine: str) -> GridState:
    """The state before anything starts: what is finished already is done."""
    entries = []
    for job in {job.identity: job for job in jobs}.values():
        entry = JobState(job)
        if finished(job) and (folder := job.folder(root)) is not None:
            entry.status, entry.run = "done", folder.path.name
            entry.seconds = sum(folder.result()["cost"]["cpu_seconds"].values())
        entries.append(entry)
    return GridState(entries, engine)
