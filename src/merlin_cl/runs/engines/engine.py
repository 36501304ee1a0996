"""What a grid asks of an engine."""

from dataclasses import dataclass
from typing import Protocol

from merlin_cl.runs.jobs import Job


@dataclass(frozen=True)
class JobOutcome:
    """A run that has ended."""

    job: Job
    reason: str | None
    """Why it failed, in a sentence; None where it did not."""


class Engine(Protocol):
    """Computes runs."""

    name: str

    @property
    def slots(self) -> int:
        """How many runs it can work on at once."""

    def start(self, job: Job) -> None:
        """Begin with a run, or go on from its last checkpoint."""

    def ended(self, seconds: float) -> list[JobOutcome]:
        """The runs that have ended since it was last asked, having waited for one at most so long."""

    def finished(self, job: Job) -> bool:
        """Whether the result is there; if it is, it is in the grid's folder."""

    def tasks_done(self, job: Job) -> int:
        """How far a run has come."""

    def close(self) -> None:
        """Stop what is running and let go of everything."""
