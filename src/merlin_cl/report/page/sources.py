"""What a page is about: finished runs and runs at work, read from run folders or from committed result files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.report.page.so_far import result_so_far
from merlin_cl.report.summary import Result
from merlin_cl.runs.folder import RunFolder, run_folders

Told = Callable[[int, int], None]
"""Called with (runs read, runs in all)."""


@dataclass(frozen=True)
class Run:
    """One run: its result (that of the tasks done, if it is not finished) and what lies beside it."""

    name: str
    path: Path
    result: Result
    finished: bool
    environment: dict[str, Any] | None
    events: list[dict[str, Any]] = field(default_factory=list)
    checkpoint: Path | None = None
    """The newest checkpoint, where there is a run folder that has one."""
    data: str | None = None
    """Where the data were looked for, as the run folder has it."""

    @property
    def seed(self) -> int:
        """The seed."""
        seed: int = self.result["seed"]
        return seed


@dataclass(frozen=True)
class Findings:
    """Runs that could be read, and the reasons why others could not."""

    runs: list[Run]
    problems: list[str]


def find(paths: Iterable[Path]) -> list[Path]:
    """Run folders and result files: those named, and those inside the folders named; each once."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} is not there; name run folders, folders that hold some, or files under results/.")
        places = inside(path)
        if not places:
            raise UsageError(
                f"{path} holds no run folder and no result file; `merlin run --out {path}` makes the first."
            )
        for each in places:
            found.setdefault(each.resolve(), each)
    return list(found.values())


def read(places: Iterable[Path], told: Told = lambda done, total: None) -> Findings:
    """The runs at some places. One that cannot be read is no reason to lose the others: it becomes a problem."""
    places = list(places)
    runs, problems = [], []
    for done, place in enumerate(places, start=1):
        try:
            runs.append(read_run(place))
        except (MerlinError, KeyError, TypeError, ValueError, OSError) as error:
            problems.append(str(error) if isinstance(error, MerlinError) else f"{place} cannot be read: {error!r}")
        told(done, len(places))
    return Findings(runs, problems)


def read_run(place: Path) -> Run:
    """The run in a folder or in a result file."""
    if place.is_file():
        record = json.loads(place.read_bytes())
        return Run(place.stem, place, record["result"], True, record.get("environment"))
    folder = RunFolder.open(place)
    events, config = folder.events(), folder.config_record()
    checkpoints = sorted(folder.checkpoints.glob("task-*.safetensors"))
    return Run(
        name=place.resolve().name,
        path=place,
        result=folder.result() if folder.finished else result_so_far(config, events),
        finished=folder.finished,
        environment=folder.environment(),
        events=events,
        checkpoint=checkpoints[-1] if checkpoints else None,
        data=config.get("data"),
    )


def inside(path: Path) -> list[Path]:
    """The path itself if it is a run folder or a result file, those in it otherwise; none if it is not there (yet)."""
    if path.is_file() or (path / "config.json").is_file():
        return [path]
    files = sorted([*path.glob("*.json"), *path.glob("*/*.json")])
    return [folder.path for folder in run_folders(path)] + [file for file in files if _is_result(file)]


def _is_result(file: Path) -> bool:
    """Whether a JSON file is what `tools/collect_results.py` keeps of a run, rather than part of a run folder."""
    if (file.parent / "config.json").exists():
        return False
    try:
        record = json.loads(file.read_bytes())
    except (ValueError, OSError):
        return False
    return isinstance(record, dict) and isinstance(record.get("result"), dict) and "scores" in record["result"]
