"""The model that a service teaches and asks: versions on disk, lessons out of the journal, and a snapshot that answers.

One thread teaches; what it works on, nobody else sees. Others ask the snapshot, which is a copy of it, made ready before it is
given out, so that no answer waits for learning.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.estimator import ContinualClassifier
from merlin_cl.serving.journal import Array, EntryOutcome, Journal, JournalEntry
from merlin_cl.serving.outlook import Outlook
from merlin_cl.statefile import clear_leftovers, write_whole

LESSON = 100
"""Examples that are learned in one call at most: single ones that wait together make whole batches."""
STEP = 1_000
"""Examples, at most, that are learned before the next snapshot."""
SUFFIX = ".safetensors"
COVERAGE = 0.9
"""What sets of labels are to cover that are looked at before learning."""

Lesson = Sequence[JournalEntry]
"""Entries that are learned in one call."""


@dataclass(frozen=True)
class PredictionRequest:
    """What is asked of inputs."""

    task: str | int | None = None
    coverage: float | None = None
    """What sets of labels are to cover, where they are wanted."""
    novelty: bool = False


@dataclass(frozen=True)
class Answer:
    """To N inputs, by one version of the model."""

    version: int
    classes: Array
    probabilities: Array
    """[N, classes]"""
    sets: Array | None = None
    """bool [N, classes]"""
    novelty: Array | None = None
    """[N]"""

    def part(self, start: int, stop: int) -> Answer:
        """That to some of the inputs."""
        parts = [None if each is None else each[start:stop] for each in (self.sets, self.novelty)]
        return Answer(self.version, self.classes, self.probabilities[start:stop], *parts)


@dataclass(frozen=True)
class ServedVersion:
    """What answers: an estimator that is never taught."""

    version: int
    estimator: ContinualClassifier
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Of whoever asks it, or copies it."""

    def answer(self, x: Array, question: PredictionRequest) -> Answer:
        """What there is to say about inputs [N, ...]."""
        estimator, sets, novelty = self.estimator, None, None
        with self.turn:
            probabilities = self._probabilities(x, question.task)
            if question.coverage is not None:
                sets = estimator.predict_set(x, question.coverage, question.task)
            if question.novelty:
                novelty = estimator.novelty(x)
        return Answer(self.version, estimator.classes_, probabilities, sets, novelty)

    @torch.inference_mode()
    def _probabilities(self, x: Array, task: str | int | None) -> Array:
        """What `predict_proba` says: requests have been checked, and nobody teaches this estimator, so it is asked directly."""
        estimator = self.estimator
        if estimator.features is not None:
            return estimator.predict_proba(x, task)
        inputs = torch.from_numpy(x if x.dtype == np.uint8 else x.astype(np.float32))
        answers = estimator._answers(estimator._as_learned(inputs), estimator._visits(task), estimator.inference)
        return np.asarray(answers.cpu().numpy()[:, estimator._labels.order])


class ServedModel:
    """Learns what is in a journal, in order, each entry once."""

    snapshot: ServedVersion

    def __init__(
        self, journal: Journal, folder: Path, load: Callable[[Path], ContinualClassifier], keep: int = 10
    ) -> None:
        """The newest version that can be read; `folder` holds versions, `load` reads one, and `keep` of them are kept."""
        self.journal, self._folder, self._load, self._keep = journal, folder, load, keep
        self._unnoted: list[EntryOutcome] = []
        self._remove_strays()
        self.columns: tuple[str, ...] = ()
        self.applied, self._live = self._newest()
        self._publish()

    @property
    def saved(self) -> int:
        """The newest version on disk."""
        return max(self.journal.versions())

    def step(self) -> list[EntryOutcome]:
        """Learn some of what waits, and give out a snapshot that knows it; nothing where nothing waits."""
        self._note()
        waiting = list(lessons(self.journal.after(self.applied, STEP)))
        if not waiting:
            return []
        outcomes = self._unnoted = self._learned(waiting)
        self._note()
        if any(lesson[0].request.kind == "rollback" for lesson in waiting):
            self.save()
        return outcomes

    def save(self) -> int:
        """Write what was learned as a version, whole or not at all; the answer is its number."""
        self._note()
        if self.applied != self.saved:
            whole = copy.copy(self._live)
            if self.columns:
                whole.feature_names_in_ = np.array(self.columns, dtype=object)
            whole.save(self.path(self.applied))
            for gone in self.journal.add_version(self.applied, Outlook.of(whole).record(), self._keep):
                self.path(gone).unlink(missing_ok=True)
        return self.applied

    def path(self, version: int) -> Path:
        """The file of a version."""
        return self._folder / f"{version}{SUFFIX}"

    def _note(self) -> None:
        """Write down what was learned together, before a version with it can be saved: it is learned so again."""
        if self._unnoted:
            self.journal.note(self._unnoted)
            self._unnoted = []

    def _learned(self, lessons: Sequence[Lesson]) -> list[EntryOutcome]:
        """Learn lessons and give out a snapshot. Where something fails, smaller parts are tried, down to a single entry, so that
        only those are refused which fail by themselves."""
        before, outcomes = self.applied, []
        try:
            for lesson in lessons:
                outcomes += self._outcomes(lesson)
                self.applied = lesson[-1].number
            self._publish()
        except Exception as error:
            with self.snapshot.turn:
                self._live, self.applied = copy.deepcopy(self.snapshot.estimator), before
            entries = [entry for lesson in lessons for entry in lesson]
            if len(lessons) > 1:
                return [outcome for lesson in lessons for outcome in self._learned([lesson])]
            if any(entry.lesson is not None for entry in entries):
                raise MerlinError(
                    f"What was learned before, number {entries[0].number}, cannot be learned again: {_sentence(error)}"
                ) from error
            if len(entries) > 1:
                return [outcome for entry in entries for outcome in self._learned([[entry]])]
            (entry,) = entries
            outcomes = [self._outcome(entry, entry.number, _sentence(error), *self._before_learning(entries))]
            self.applied = entry.number
            self._publish()
        return outcomes

    def _outcomes(self, lesson: Lesson) -> list[EntryOutcome]:
        first = lesson[0]
        if first.lesson is not None and first.refusal is not None:
            return [self._outcome(entry, entry.number, entry.refusal, (None, None)) for entry in lesson]
        before = self._before_learning(lesson)
        self._teach(lesson)
        return [self._outcome(entry, first.number, None, known) for entry, known in zip(lesson, before, strict=True)]

    def _outcome(
        self, entry: JournalEntry, lesson: int, refusal: str | None, known: tuple[int | None, int | None]
    ) -> EntryOutcome:
        return EntryOutcome(entry.number, lesson, len(entry.request.labels), refusal, *known, entry.lesson is not None)

    def _teach(self, lesson: Lesson) -> None:
        request = lesson[0].request
        if request.kind == "rollback":
            assert request.version is not None
            self._live = self._read(request.version)
            return
        x = np.concatenate([entry.request.inputs for entry in lesson if entry.request.inputs is not None])
        y = [label for entry in lesson for label in entry.request.labels]
        self._live.partial_fit(x, y, task=request.task)
        if lesson[-1].request.end_task:
            self._live.end_task()

    def _before_learning(self, lesson: Lesson) -> list[tuple[int | None, int | None]]:
        """Of each entry, how many examples the snapshot answers right, and how many labels its sets hold, before it is learned;
        they are asked together, as one pass costs little more than a pass for each of many single rows."""
        asked = [entry.request.inputs for entry in lesson if entry.request.inputs is not None]
        if not asked:
            return [(None, None)] * len(lesson)
        calibrated = self.snapshot.estimator.calibration > 0
        question = PredictionRequest(coverage=COVERAGE if calibrated else None)
        try:
            answer = self.snapshot.answer(np.concatenate(asked), question)
        except MerlinError:  # a model that diverged has no answers; that is said to whoever asks
            return [(0, None)] * len(lesson)
        ends = np.cumsum([len(entry.request.labels) for entry in lesson]).tolist()
        parts = [answer.part(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        return [_known(part, entry.request.labels) for part, entry in zip(parts, lesson, strict=True)]

    def _publish(self) -> None:
        self._live.prepare()  # what is ready here, such as models of earlier tasks, is copied rather than made again each time
        ready = copy.deepcopy(self._live)
        self.snapshot = ServedVersion(self.applied, ready.prepare())

    # Versions

    def _newest(self) -> tuple[int, ContinualClassifier]:
        failure: MerlinError | None = None
        for version in reversed(self.journal.versions()):
            try:
                return version, self._read(version)
            except MerlinError as error:
                failure = failure or error
        raise failure or MerlinError(f"{self._folder} holds no version of a model; choose another folder with --state.")

    def _read(self, version: int) -> ContinualClassifier:
        """A version, without the names of its columns: requests were brought in their order before they came here."""
        estimator = self._load(self.path(version))
        self.columns = tuple(map(str, estimator.__dict__.pop("feature_names_in_", ())))
        return estimator

    def _remove_strays(self) -> None:
        """Files of versions that nobody was told of: the process was killed between writing one and noting it."""
        clear_leftovers(self._folder)
        known = {self.path(version).name for version in self.journal.versions()}
        for file in self._folder.glob(f"*{SUFFIX}"):
            if file.name not in known:
                file.unlink()


def lessons(entries: Sequence[JournalEntry]) -> Iterator[list[JournalEntry]]:
    """Entries that are learned together: as they were before, if they were; otherwise neighbours of one task."""
    for _, run in groupby(
        entries, key=lambda entry: (entry.lesson, entry.refusal, entry.request.kind, entry.request.task)
    ):
        group: list[JournalEntry] = []
        for entry in run:
            if group and not _together(group, entry):
                yield group
                group = []
            group.append(entry)
        yield group


def _together(group: Sequence[JournalEntry], entry: JournalEntry) -> bool:
    if entry.lesson is not None:
        return entry.refusal is None  # they have the same number of a lesson
    if entry.request.kind == "rollback" or group[-1].request.end_task:
        return False
    return sum(len(each.request.labels) for each in (*group, entry)) <= LESSON


def _known(answer: Answer, labels: Sequence[Any]) -> tuple[int, int | None]:
    """How many of these labels were the answers, and how many were in their sets, where there are sets."""
    columns = {label: at for at, label in enumerate(answer.classes.tolist())}
    true = [columns.get(label, -1) for label in labels]  # -1: of a class not seen yet
    right = sum(at == best for at, best in zip(true, answer.probabilities.argmax(axis=1).tolist(), strict=True))
    if answer.sets is None:
        return right, None
    return right, sum(at >= 0 and bool(row[at]) for at, row in zip(true, answer.sets, strict=True))


def _sentence(error: Exception) -> str:
    """Why something was not learned."""
    if isinstance(error, MerlinError):
        return str(error)
    return f"Unexpected {type(error).__name__}: {' '.join(str(error).split())[:500]}"


def first_version(journal: Journal, model: Path, checksum: str, folder: Path, load: Callable[[Path], Any]) -> None:
    """Make a saved learner the version 0 of a service that begins, once it is known to be one; refuse another one later."""
    if journal.versions():
        if journal.about("model", checksum) != checksum:
            raise UsageError(
                f"{model} is another model than the one that {folder.parent} was begun with; choose another folder with --state, "
                "or serve a version from there."
            )
        return
    estimator = load(model)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"0{SUFFIX}", model.read_bytes())
    journal.about("model", checksum)
    journal.add_version(0, Outlook.of(estimator).record(), 1)
