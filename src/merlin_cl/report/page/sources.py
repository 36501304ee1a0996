"""What a page is about: finished runs and runs at work, read from run folders or from committed result files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.report.page.events import whole
from merlin_cl.report.page.partial_result import partial_result
from merlin_cl.report.summary import Result
from merlin_cl.runs.folder import RESTORE, RunFolder, read_json, run_folders
from merlin_cl.runs.result import FaultError, check

ProgressCallback = Callable[[int, int], None]
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

    @property
    def tasks_in_all(self) -> int:
        """How many tasks it learns, as it said when it began; those that are done where it did not."""
        said: list[int] = [event["tasks"] for event in self.events if event["event"] in ("started", "resumed")]
        done: int = self.result["tasks"]
        return max(done, *said[-1:], 0)


@dataclass(frozen=True)
class Findings:
    """Runs that could be read, and the reasons why others could not."""

    runs: list[Run]
    problems: list[str]


def find(paths: Iterable[Path]) -> list[Path]:
    """Run folders and result files: those named, and those inside the folders named; each once."""
    folders: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} is not there; name run folders, folders that hold some, or files under results/.")
        places = inside(path)
        if not places:
            raise UsageError(
                f"{path} holds no run folder and no result file; `{merlin('run', '--out', path)}` makes the first."
            )
        for each in places:
            folders.setdefault(each.resolve(), each)
    return list(folders.values())


def read(places: Iterable[Path], told: ProgressCallback = lambda done, total: None) -> Findings:
    """The runs at some places. One that cannot be read is no reason to lose the others: it becomes a problem."""
    places = list(places)
    runs, problems = [], []
    for done, place in enumerate(places, start=1):
        try:
            runs.append(read_run(place))
        except MerlinError as error:
            problems.append(str(error))
        told(done, len(places))
    return Findings(runs, problems)


def read_run(place: Path) -> Run:
    """The run in a folder or in a result file; MerlinError, which names the place, where it cannot be shown."""
    try:
        return _from_file(place) if not place.is_dir() else _from_folder(RunFolder.open(place))
    except FaultError as fault:
        raise MerlinError(f"{place} is damaged ({fault}); {RESTORE}") from None
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        raise MerlinError(f"{place} is damaged ({type(error).__name__}: {error}); {RESTORE}") from None


def _from_file(file: Path) -> Run:
    record = read_json(file)
    check(record.get("result"))
    return Run(file.stem, file, record["result"], True, _environment(record.get("environment")))


def _from_folder(folder: RunFolder) -> Run:
    events, config = whole(folder.events()), folder.config_record()
    result = folder.result() if folder.finished else partial_result(config, events)
    check(result, finished=folder.finished)
    checkpoints = sorted(file for file in folder.checkpoints.glob("task-*.safetensors") if file.is_file())
    data = config.get("data")
    return Run(
        name=folder.path.resolve().name,
        path=folder.path,
        result=result,
        finished=folder.finished,
        environment=_environment(folder.environment()),
        events=events,
        checkpoint=checkpoints[-1] if checkpoints else None,
        data=data if isinstance(data, str) else None,
    )


def _environment(record: Any) -> dict[str, Any] | None:
    """The environment, None where it is not known or not in a form that is."""
    match record:
        case {"versions": dict(), "git_revision": str() | None, "threads": int()}:
            machine = record.get("machine")
            known = ("system", "processor", "cores", "cpu_capability")
            return record if isinstance(machine, dict) and all(name in machine for name in known) else None
    return None


def inside(path: Path) -> list[Path]:
    """The path itself if it is a run folder or a result file, those in it otherwise; none if it is not there (yet)."""
    if path.exists() and (not path.is_dir() or (path / "config.json").exists()):
        return [path]
    files = sorted([*path.glob("*.json"), *path.glob("*/*.json")])
    return [folder.path for folder in run_folders(path)] + [file for file in files if _is_result(file)]


def _is_result(file: Path) -> bool:
    """Whether a JSON file is what `tools/collect_results.py` keeps of a run, rather than part of a run folder."""
    if (file.parent / "config.json").exists():
        return False
    try:
        record = read_json(file)
    except MerlinError:
        return False
    return isinstance(record.get("result"), dict) and "scores" in record["result"]
