"""The folder of a search: one line for each trial that is over, so that a search can be interrupted and gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from merlin_cl.errors import MerlinError
from merlin_cl.runs.folder import RunFolder, read_json, write_json
from merlin_cl.tuning.plan import Plan

State = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class Trial:
    """What came of some values of the searched settings."""

    number: int
    values: dict[str, Any]
    curve: tuple[float, ...]
    """The average incremental accuracy so far, mean over seeds, after each task that was learned."""
    state: State
    """Learned to the end; given up on the way; or the method failed with these values."""
    seconds: float
    error: str | None = None

    @property
    def value(self) -> float:
        """What is maximised."""
        return self.curve[-1]

    def record(self) -> dict[str, Any]:
        """Plain values."""
        record = asdict(self) | {"curve": [round(point, 4) for point in self.curve]}
        return {name: value for name, value in record.items() if value is not None}


class StudyFolder:
    """A search on disk: `study.json`, `events.jsonl` with a line a trial, and what was chosen."""

    def __init__(self, root: Path, plan: Plan) -> None:
        self.path = root / plan.name
        self.chosen = self.path / f"{plan.title}-{plan.method.method}.json"
        self._log = RunFolder(self.path)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes from working on it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / "lock").touch()
        except OSError as error:
            raise MerlinError(f"Cannot write to {self.path}: {error.strerror}; choose a folder with --out.") from None
        with self._log.locked():
            yield

    def claim(self, plan: Plan, data: str) -> None:
        """Say what is searched, with the checksum of the data; a search on other data is refused."""
        file = self.path / "study.json"
        before = read_json(file).get("data", data) if file.exists() and self.trials() else data
        if before != data:
            raise MerlinError(
                f"The trials in {self.path} were made with other data (checksum {before}, now {data}); put the data back, or "
                "choose another folder with --out."
            )
        write_json(file, {**plan.record(), "data": data})

    def trials(self) -> list[Trial]:
        """All trials that are over, in order."""
        lines = [event for event in self._log.events() if event.get("event") == "trial"]
        return [Trial(**(line["trial"] | {"curve": tuple(line["trial"]["curve"])})) for line in lines]

    def add(self, trial: Trial) -> None:
        """A trial is over."""
        self._log.log("trial", trial=trial.record())
