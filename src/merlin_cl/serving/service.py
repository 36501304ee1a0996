"""A service without its network: what it is told goes to the journal, what it is asked to a snapshot."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.estimator import ContinualClassifier
from merlin_cl.serving.answering import Answerer, BusyError, Remembered
from merlin_cl.serving.bodies import BodyForm
from merlin_cl.serving.figures import BEFORE, RECENT, Figures
from merlin_cl.serving.journal import Acknowledgement, ConflictError, EntryOutcome, Journal, Request
from merlin_cl.serving.model import ServedModel, first_version
from merlin_cl.serving.outlook import ModelRules, Outlook
from merlin_cl.serving.teacher import Teacher

ENDING_SECONDS = 30.0
"""What learning may take to come to an end when the service is stopped; killing it then loses nothing."""


class UnknownError(MerlinError):
    """Something that was named and is not there."""


class Service:
    """A model that answers and learns, with everything that it was told in a folder."""

    def __init__(
        self,
        model: Path,
        state: Path,
        *,
        network: str | None = None,
        features: str | None = None,
        device: str = "cpu",
        keep: int = 10,
        most_waiting: int = 10_000,
    ) -> None:
        def load(path: Path) -> ContinualClassifier:
            return ContinualClassifier.load(path, network=network, features=features, device=device)

        self._most_waiting = most_waiting
        if not (state / "journal.sqlite").exists():
            load(model)  # what is no model leaves no folder behind
        state.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(state / "journal.sqlite")
        try:
            first_version(self.journal, model, _checksum(model), state / "versions", load)
            self.model = ServedModel(self.journal, state / "versions", load, keep)
        except BaseException:
            self.journal.close()
            raise
        estimator = self.model.snapshot.estimator
        self.form, self.rules = BodyForm.of(self.model), ModelRules.of(estimator)
        self.figures, self.remembered = Figures(), Remembered()
        self.figures.remember(self.journal.answered(RECENT + BEFORE))
        self._accepting = threading.Lock()
        self._outlook = self._outlook_at_start()
        self.answerer = Answerer(lambda: self.model.snapshot)
        self.teacher = Teacher(self.model, self._hear)
        self.saved = self.model.saved
        """The newest version on disk when the service began, or ended."""

    def start(self) -> None:
        """Begin to answer and to learn."""
        self.answerer.start()
        self.teacher.start()

    def stop(self) -> bool:
        """Come to an end, with all that was learned saved; False where something is still being learned, or cannot be saved: the
        journal has it, and the next start learns it."""
        self.answerer.stop()
        ended = self.teacher.stop(ENDING_SECONDS)
        self.saved = self.model.saved
        if ended:
            self.journal.close()
        return ended

    def accept(self, id: str | None, request: Request) -> tuple[str, Acknowledgement]:
        """Write a request down, once it is known that it can be learned; when this returns, it is on disk."""
        id = id or secrets.token_hex(16)
        with self._accepting:
            if self.journal.state_of(id) is None:
                waiting = self.journal.waiting(self.model.applied)
                if waiting and waiting + len(request.labels) > self._most_waiting:
                    raise BusyError(f"{waiting:,} examples wait to be learned already; send more in a while.")
                outlook = self._next_outlook(request)
                acknowledgement = self.journal.append(id, request)
                self._outlook = outlook
            else:
                acknowledgement = self.journal.append(id, request)
        self.teacher.wake()
        return id, acknowledgement

    def accept_feedback(self, answer: str, label: Any) -> tuple[str, Acknowledgement]:
        """Learn what was right, of an input that was answered."""
        known, id = self.remembered.get(answer), f"feedback/{answer}"
        labels = self.rules.labels([label])
        if known is None:
            if self.journal.state_of(id) is not None:
                raise ConflictError(
                    f"The answer {answer!r} has had its feedback, and its input is no longer remembered."
                )
            raise UnknownError(
                f"The answer {answer!r} is not known, or no longer; send input and label to /learn instead."
            )
        x, task = known
        return self.accept(id, Request("learn", x, labels, task if self.rules.told else None))

    def status(self) -> dict[str, Any]:
        """What there is to know about the service at this moment."""
        snapshot = self.model.snapshot
        estimator, figures = snapshot.estimator, self.figures
        return {
            "version": snapshot.version,
            "last_entry": self.journal.last(),
            "waiting": self.journal.waiting(snapshot.version),
            "learning": self.teacher.trouble is None,
            "trouble": self.teacher.trouble,
            "method": estimator.learner_.settings.method,
            "classes": len(estimator.classes_),
            "tasks": len(estimator.tasks_),
            "answered": figures.answered,
            "learned": figures.learned,
            "refused": figures.refused,
            "last_refusal": figures.last_refusal,
            "accuracy": figures.right.record(),
            "coverage": figures.covered.record(),
            "confidence": figures.confidence.record(),
            "median_seconds": figures.latencies.quantile(0.5),
            "slowest_seconds": figures.latencies.quantile(0.99),
        }

    def description(self) -> dict[str, Any]:
        """What the model is."""
        snapshot, form = self.model.snapshot, self.form
        estimator = snapshot.estimator
        return {
            "version": snapshot.version,
            "versions": list(self.journal.versions()),
            "method": estimator.learner_.settings.method,
            "settings": estimator.learner_.settings.record(),
            "classes": estimator.classes_.tolist(),
            "tasks": list(estimator.tasks_),
            "boundaries": estimator.boundaries,
            "held_back": len(estimator._calibration),
            "input_shape": list(form.shape),
            "input_type": "text" if form.text else "bytes" if form.bytes else "numbers",
            "features": None if estimator._note is None else estimator._note.name,
            "columns": list(form.columns),
            "stored_bytes": estimator.learner_.stored_bytes(),
        }

    def _next_outlook(self, request: Request) -> Outlook:
        if request.kind == "learn":
            return self._outlook.after(request, self.rules)
        versions = self.journal.versions()
        if request.version not in versions:
            kept = ", ".join(map(str, versions))
            raise UnknownError(f"Version {request.version} is not kept; these are: {kept}.")
        return Outlook.from_record(versions[request.version])

    def _outlook_at_start(self) -> Outlook:
        """What the model will know when all that waits is learned."""
        outlook = Outlook.of(self.model.snapshot.estimator)
        number = self.model.applied
        while entries := self.journal.after(number, 1_000):
            for entry in entries:
                if entry.refusal is not None:
                    continue
                try:
                    if entry.request.kind == "rollback":
                        outlook = Outlook.from_record(self.journal.versions()[entry.request.version or 0])
                    else:
                        outlook = outlook.after(entry.request, self.rules)
                except (UsageError, KeyError):  # it will be refused when its turn comes
                    continue
            number = entries[-1].number
        return outlook

    def _hear(self, outcomes: Sequence[EntryOutcome]) -> None:
        """Called by the teacher: what was refused leaves other classes and tasks than were foreseen."""
        self.figures.outcomes(outcomes)
        with self._accepting:
            if self.journal.last() == self.model.applied:
                self._outlook = Outlook.of(self.model.snapshot.estimator)


def state_folder(model: Path) -> Path:
    """Where the service of a model keeps its journal and versions, unless told otherwise."""
    return model.with_name(f"{model.name}.serve")


def _checksum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
