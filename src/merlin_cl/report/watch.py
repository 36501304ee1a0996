"""What `merlin watch` knows: run folders looked at again and again, the page made anew when there is more to show."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.report.page.build import content
from merlin_cl.report.page.progress import busy, grid_progress, run_progress
from merlin_cl.report.page.render import fragment, page
from merlin_cl.report.page.salvage import salvaged
from merlin_cl.report.page.sources import Run, inside, read_run

REST = 10.0
"""Making the page takes at most one part in so many of the time: runs need the processor more."""
WATCHED = ("events.jsonl", "result.json", "config.json")

Stamp = tuple[tuple[str, int, int], ...]


class Watch:
    """Runs below some folders, as they are now. Several viewers may ask at once; one of them does the work."""

    def __init__(self, roots: Sequence[Path], clock: Callable[[], float] = time.monotonic, rest: float = REST) -> None:
        self.roots = list(roots)
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[Stamp, Run | str]] = {}
        self._version = ""
        self._content: dict[str, Any] = {}
        self._fragment: dict[str, Any] = {}
        self._next = 0.0

    def live(self) -> dict[str, Any]:
        """How far everything is, and the version of the results: a viewer who has another asks for them."""
        with self._lock:
            runs = self._look()
            self._refresh(runs)
            told = [_progress(run) for run in runs if run.path.is_dir()]
            progress = {
                "runs": [one for one in told if one is not None],
                "grids": [one for root in self.roots if (one := grid_progress(root)) is not None],
            }
            return {"version": self._version, "progress": progress}

    def page(self) -> str:
        """The whole document."""
        with self._lock:
            self._refresh(self._look())
            return page(self._content, live=self._version)

    def fragment(self) -> dict[str, Any]:
        """The newest results, for a page that is open."""
        with self._lock:
            self._refresh(self._look())
            return {"version": self._version, **self._fragment}

    def _look(self) -> list[Run]:
        """All runs that can be read; those whose files have not changed are not read again."""
        places = {place.resolve(): place for root in self.roots for place in inside(root)}
        known: dict[Path, tuple[Stamp, Run | str]] = {}
        for resolved, place in places.items():
            stamp = _stamp(place)
            before = self._known.get(resolved)
            known[resolved] = before if before is not None and before[0] == stamp else (stamp, _read(place))
        self._known = known
        return [run for _, run in known.values() if isinstance(run, Run)]

    def _refresh(self, runs: list[Run]) -> None:
        """Make the content anew where results have changed, unless that was done a moment ago."""
        problems = [problem for _, problem in self._known.values() if isinstance(problem, str)]
        version = _version(runs, problems)
        if version == self._version or (self._version and self._clock() < self._next):
            return
        begun = self._clock()

        def make(runs: list[Run], problems: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
            made = content(runs, problems, unfinished=True)
            part = fragment(made, live=version)
            json.dumps(part, allow_nan=False)  # as a browser reads it
            return made, part

        (self._content, self._fragment), _ = salvaged(make, runs, problems)
        self._version = version
        self._next = self._clock() + self._rest * (self._clock() - begun)


def _read(place: Path) -> Run | str:
    try:
        return read_run(place)
    except MerlinError as error:
        return str(error)


def _progress(run: Run) -> dict[str, Any] | None:
    """How far a run is; None where its events make no sense."""
    try:
        return run_progress(run, not run.finished and busy(run.path))
    except (LookupError, TypeError, ValueError, OverflowError):
        return None


def _stamp(place: Path) -> Stamp:
    """What changes when a run's files do."""
    files = [place] if place.is_file() else [place / name for name in WATCHED]
    stamps = []
    for file in files:
        try:
            facts = file.stat()
            stamps.append((file.name, facts.st_mtime_ns, facts.st_size))
        except OSError:
            continue
    return tuple(stamps)


def _version(runs: list[Run], problems: list[str]) -> str:
    """A name for the results there are: the same until a task or a run is done."""
    facts = [(str(run.path), run.finished, run.result["tasks"], len(run.result["scores"])) for run in runs]
    return hashlib.sha256(repr((sorted(facts), sorted(problems))).encode()).hexdigest()[:16]
