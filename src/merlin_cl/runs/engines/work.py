"""What a worker does, whichever engine it belongs to: one run, to its end or to a reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import Listener
from merlin_cl.runs.jobs import Job
from merlin_cl.runs.run import run


class Silence:
    """A display that nobody looks at: the grid shows progress, and the run's log has the rest."""

    def update(self, text: str, done: int, total: int) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""


def compute(record: dict[str, Any], root: Path, listeners: Sequence[Listener] = ()) -> str | None:
    """Compute the run that a record describes, below `root`; the answer is why it failed, None if it did not."""
    try:
        run(RunConfig.from_record(record), root, Silence(), listeners=listeners)
    except Exception as error:
        return reason(error)
    return None


def compute_remotely(record: dict[str, Any], root: str, store: str) -> str | None:
    """The same on another machine: below `root` if it is shared, else in a scratch folder that is mirrored to a store."""
    if not store:
        return compute(record, Path(root))
    from merlin_cl.runs.engines.store import Store

    with TemporaryDirectory(prefix="merlin-") as scratch:
        try:
            kept = Store(store)
            kept.fetch(Job(RunConfig.from_record(record)), Path(scratch), checkpoints=True)
        except Exception as error:
            return reason(error)
        return compute(record, Path(scratch), [kept.mirror])


def reason(error: Exception) -> str:
    """An error in one sentence."""
    if isinstance(error, MerlinError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())
