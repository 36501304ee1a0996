"""The thread that learns what waits, saves versions, and goes on when a disk is full for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from merlin_cl.errors import MerlinError
from merlin_cl.serving.journal import EntryOutcome, StorageError
from merlin_cl.serving.model import LESSON, ServedModel

SAVE_EXAMPLES = 2_000
"""Examples that are learned between two versions, at most: so many are learned again after a kill."""
SAVE_SECONDS = 60.0
"""Seconds after which what was learned becomes a version, however little it is."""
RETRY_SECONDS = 2.0
REST_SECONDS = 0.2
"""Between lessons that are not full, so that what comes row by row is learned several rows at a time: a lesson and a snapshot of
one row cost nearly as much as those of twenty, and answers want the processor, too."""


class Teacher:
    """Has a model learn in a thread of its own until it is stopped."""

    def __init__(
        self,
        model: ServedModel,
        told: Callable[[Sequence[EntryOutcome]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`told` hears what became of entries, in the teacher's thread."""
        self._model, self._told, self._clock = model, told, clock
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._teach, name="teacher", daemon=True)
        self._unsaved, self._saved_at = 0, clock()
        self.trouble: str | None = None
        """Why nothing is learned at present, if so."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there may be something to learn."""
        self._wake.set()

    def stop(self, seconds: float) -> bool:
        """Save what was learned and end; False where that takes longer than so many seconds, which loses nothing."""
        self._stopping.set()
        self._wake.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _teach(self) -> None:
        idle = False
        while not self._stopping.is_set():
            if idle:
                self._wake.wait(RETRY_SECONDS if self.trouble else SAVE_SECONDS)
            self._wake.clear()
            try:
                idle = not self._stopping.is_set() and not self._taught()
                self._save_if_due()
                self.trouble = None
            except StorageError as error:
                self.trouble, idle = str(error), True
            except Exception as error:  # answers go on; /health says why learning does not
                self.trouble = str(error) if isinstance(error, MerlinError) else f"Unexpected {error!r}"
                return
        try:
            self._model.save()
        except MerlinError as error:
            self.trouble = str(error)

    def _taught(self) -> bool:
        outcomes = self._model.step()
        if outcomes:
            learned = sum(max(outcome.examples, 1) for outcome in outcomes)
            self._unsaved += learned
            self._told(outcomes)
            if learned < LESSON:
                self._stopping.wait(REST_SECONDS)
        return bool(outcomes)

    def _save_if_due(self) -> None:
        now = self._clock()
        if self._unsaved and (self._unsaved >= SAVE_EXAMPLES or now - self._saved_at >= SAVE_SECONDS):
            self._model.save()
            self._unsaved, self._saved_at = 0, now
