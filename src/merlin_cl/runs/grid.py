"""A grid from beginning to end: every run begun, waited for, tried again if it failed; started again, it goes on."""

from __future__ import annotations

import time
from pathlib import Path

from merlin_cl.errors import MerlinError
from merlin_cl.runs.engines.engine import Engine, JobOutcome
from merlin_cl.runs.folder import exclusive
from merlin_cl.runs.grid_state import Cost, GridState, JobState, seconds_left, state_of
from merlin_cl.runs.jobs import Job
from merlin_cl.runs.progress import Display, clock_time
from merlin_cl.runs.stopping import ending_in_order, exit_code

POLL_SECONDS = 0.2
TELL_SECONDS = 1.0
WRITE_SECONDS = 5.0
"""How old grid.json may be while nothing happens but time passing."""
PATIENCE_SECONDS = 10.0
"""How long workers of a grid that was killed are waited for; they end within a moment."""


class GridStoppedError(MerlinError):
    """The grid was stopped, by the user or by a signal; what was done is kept."""

    def __init__(self, sentence: str, interrupt: KeyboardInterrupt) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code(interrupt)


def compute_grid(jobs: list[Job], root: Path, engine: Engine, retries: int, show: Display) -> GridState:
    """Compute all runs that are not finished; the answer tells which failed and why."""
    root.mkdir(parents=True, exist_ok=True)
    with exclusive(root / "grid.lock", f"Another grid is at work in {root}; wait for it or choose another --out."):
        state = state_of(jobs, root, engine.finished, engine.name)
        work = _Work(state, root, engine, retries, show)
        try:
            with ending_in_order():
                _to_the_end(work)
        except KeyboardInterrupt as interrupt:
            raise GridStoppedError("Stopped; the same command goes on where the runs were.", interrupt) from None
        except OSError as error:
            raise MerlinError(
                f"{error.strerror or type(error).__name__} at {error.filename or root}; what the runs have done is kept: mend "
                "that, and the same command goes on."
            ) from error
    return state


def _to_the_end(work: _Work) -> None:
    """All of the work, and however it ends, a grid.json that speaks of no run as if somebody were at it."""
    try:
        work.all()
    finally:
        work.engine.close()
        for entry in work.state.of("running"):
            entry.status = "queued"
        work.state.write(work.root, None)


class _Work:
    """The loop of a grid."""

    def __init__(self, state: GridState, root: Path, engine: Engine, retries: int, show: Display) -> None:
        self.state = state
        self.root = root
        self.engine = engine
        self.retries = retries
        self.show = show
        self.begun = time.monotonic()
        self.told = self.written = 0.0
        self.news = True  # something changed that grid.json does not say yet

    def all(self) -> None:
        """Until no run is waited for."""
        done = len(self.state.of("done"))
        if done:
            self.show.say(f"{done} of {len(self.state.entries)} runs are finished already.")
        self._wait_for_orphans()
        while waiting := self.state.of("queued", "running"):
            for entry in [entry for entry in waiting if entry.status == "queued"][: self._free()]:
                self.state.begin(entry)
                self.engine.start(entry.job)
                self.news = True
            for outcome in self.engine.ended(POLL_SECONDS):
                self._end(outcome)
            self._tell()

    def _free(self) -> int:
        return max(0, self.engine.slots - len(self.state.of("running")))

    def _end(self, outcome: JobOutcome) -> None:
        entry = next(entry for entry in self.state.of("running") if entry.job is outcome.job)
        self.state.end(entry, outcome.reason, self.retries)
        folder = entry.job.folder(self.root)
        entry.run = None if folder is None else folder.path.name
        self.news = True
        ended = len(self.state.of("done", "failed"))
        name = entry.run or entry.job.stem.rstrip("-")
        if outcome.reason is None:
            self.show.say(f"{ended}/{len(self.state.entries)} {name} done in {clock_time(entry.seconds or 0.0)}")
        else:
            next_step = "given up" if entry.status == "failed" else "to be tried again"
            self.show.say(f"{name} failed, {next_step}: {outcome.reason}")

    def _tell(self) -> None:
        """Progress to the display, and from time to time to grid.json."""
        now = time.monotonic()
        if not self.news and now - self.told < TELL_SECONDS:
            return
        parts = {id(entry): self._part(entry) for entry in self.state.of("running")}
        costs = self.state.costs(lambda entry: parts[id(entry)])
        left = None if costs is None else seconds_left(costs, self.engine.slots)
        self.show.update(self._counts(now, left), *self._bar(costs, parts))
        self.told = now
        if self.news or now - self.written >= WRITE_SECONDS:
            self.state.write(self.root, left)
            self.news, self.written = False, now

    def _counts(self, now: float, left: float | None) -> str:
        counts = {status: len(self.state.of(status)) for status in ("done", "running", "failed")}
        said = f"{counts['done']} of {len(self.state.entries)} runs done, {counts['running']} running"
        failed = f", {counts['failed']} failed" if counts["failed"] else ""
        ahead = "" if left is None else f", about {clock_time(left)} left"
        return f"{said}{failed}  {clock_time(now - self.begun)} elapsed{ahead}"

    def _bar(self, costs: dict[int, Cost] | None, parts: dict[int, float]) -> tuple[int, int]:
        """What is done and what there is to do, in hundredths of seconds of runs; of their number while nothing is known."""
        if costs is None:
            done = sum(parts.values()) + len(self.state.of("done", "failed"))
            return int(100 * done), 100 * len(self.state.entries)
        total = sum(cost.seconds for cost in costs.values())
        return int(100 * (total - sum(cost.left for cost in costs.values()))), max(1, int(100 * total))

    def _part(self, entry: JobState) -> float:
        """How much of a running entry is done, from 0 to 1."""
        if entry.run is None and (folder := entry.job.folder(self.root)) is not None:
            entry.run, self.news = folder.path.name, True
        return self.engine.tasks_done(entry.job) / max(1, entry.job.config.tasks)

    def _wait_for_orphans(self) -> None:
        """Workers of a grid that was killed end by themselves; until they have, their runs cannot be gone on with."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        for entry in self.state.of("queued"):
            folder = entry.job.folder(self.root)
            while folder is not None and folder.busy and time.monotonic() < deadline:
                time.sleep(0.05)
