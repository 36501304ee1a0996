"""What the model will know once all that waits is learned: so that a request which could not be learned is refused at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.serving.journal import Request

if TYPE_CHECKING:
    from merlin_cl.estimator import ContinualClassifier

MOST_CLASSES, MOST_TASKS = 10_000, 10_000
"""A model grows with each; there is an end to memory."""
LONGEST_NAME = 1_000
"""Characters of a label or of a task's name."""

Label = str | int | float


@dataclass(frozen=True)
class Outlook:
    """Classes and tasks as they will be, and what may follow them."""

    classes: tuple[Label, ...]
    tasks: tuple[str | int, ...]
    """One that comes back is there again."""
    learning: bool
    """Whether the last of the tasks goes on."""

    @classmethod
    def of(cls, estimator: ContinualClassifier) -> Self:
        """That of an estimator which is told nothing more."""
        return cls(tuple(estimator.classes_.tolist()), tuple(estimator.visits_), estimator.learner_.learning)

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"classes": list(self.classes), "tasks": list(self.tasks), "learning": self.learning}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """What `record` gave."""
        return cls(tuple(record["classes"]), tuple(record["tasks"]), record["learning"])

    def after(self, request: Request, rules: ModelRules) -> Self:
        """With a request that is to be learned; one that cannot be is refused in a sentence."""
        known = set(self.classes)
        classes = (*self.classes, *sorted(set(request.labels) - known))
        tasks, learning = self.tasks, self.learning
        if request.task is not None and not rules.told:
            raise UsageError(
                f"task is {request.task!r}, but this model finds out for itself where a task ends; leave the task out."
            )
        if not learning or (request.task is not None and request.task != tasks[-1]):
            tasks = (*tasks, len(tasks) if request.task is None else request.task)
        rules.require_room(len(classes), len(tasks))
        return replace(self, classes=classes, tasks=tasks, learning=not request.end_task)


@dataclass(frozen=True)
class ModelRules:
    """What holds for a model whatever it learns."""

    told: bool
    """Whether it is told where tasks end."""
    text: bool
    """Whether its labels are text."""
    whole: bool
    """Whether its labels are whole numbers."""
    room: tuple[int, int] | None
    """How many classes and tasks there can be, where the method cannot grow."""
    method: str

    @classmethod
    def of(cls, estimator: ContinualClassifier) -> Self:
        """Those of an estimator."""
        learner = estimator.learner_
        grows = type(learner)._widened is not Learner._widened
        classes = estimator.classes_.tolist()
        return cls(
            estimator.boundaries == "told",
            all(isinstance(label, str) for label in classes),
            all(isinstance(label, int) for label in classes),
            None if grows else (learner.stream.classes, learner.stream.tasks),
            learner.settings.method,
        )

    def labels(self, values: Sequence[Any]) -> tuple[Label, ...]:
        """Labels as JSON has them in the type that the model's have."""
        return tuple(self._label(value) for value in values)

    def _label(self, value: Any) -> Label:
        if self.text:
            if not isinstance(value, str):
                raise InputError(f"Label {shown(value)} is no text; the model's labels are text.")
            require_name(value, "A label")
            return value
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise InputError(f"Label {shown(value)} is no number; the model's labels are numbers.")
        if not -(2**53) <= value <= 2**53:
            raise InputError(f"Label {shown(value)} is too large; give numbers of at most 53 bits.")
        if self.whole and value != int(value):
            raise InputError(f"Label {shown(value)} is no whole number; the model's labels are.")
        return int(value) if self.whole else float(value)

    def require_room(self, classes: int, tasks: int) -> None:
        """Refuse more classes or tasks than there can be."""
        most = (MOST_CLASSES, MOST_TASKS) if self.room is None else self.room
        for number, limit, what in ((classes, most[0], "classes"), (tasks, most[1], "tasks")):
            if number > limit:
                why = (
                    "is the most there can be here" if self.room is None else f"is all that {self.method} was made for"
                )
                raise UsageError(f"With this request the model would have {number:,} {what}, where {limit:,} {why}.")


def require_name(value: str, what: str) -> None:
    """Refuse text that no file or page could show again."""
    if (
        not value
        or len(value) > LONGEST_NAME
        or any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in value)
    ):
        raise InputError(
            f"{what} is {shown(value)}; give 1 to {LONGEST_NAME:,} characters, none of them a control character."
        )


def shown(value: Any) -> str:
    """A value of a stranger's, short enough for a sentence.

    >>> shown("a" * 99), shown([1])
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'", '[1]')
    """
    text = ascii(value)
    return text if len(text) <= 42 else f"{text[:39]}...{text[-1]}"
