"""The part of an estimator that says why it answers as it does."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.estimator.snapshots import Snapshot
from merlin_cl.learners.explanation import NEAREST, Explanation, explanations
from merlin_cl.protocol import Inference

TaskName = str | int


@dataclass(frozen=True)
class Alike:
    """An exemplar that is like an input."""

    label: Any
    task: TaskName
    """The task it came with."""
    distance: float
    """Root mean square difference of the numbers of both; bytes are from 0 to 1."""


@dataclass(frozen=True)
class Reasons:
    """What an answer rests on."""

    label: Any
    confidence: float
    """The probability of the label."""
    second: Any
    """The next best label, None where there is no other."""
    second_confidence: float
    task: TaskName | None
    """The task that answers: the most likely one, or the last that brought the label."""
    task_share: float | None
    """How likely that task is, where the method weighs its tasks, as MERLIN does."""
    nearest: tuple[Alike, ...]
    """The exemplars most like the input, nearest first; none for a method that keeps none."""


class Explaining:
    """`explain`, for an estimator."""

    inference: Inference | None

    def explain(self, X: Any, task: TaskName | None = None, *, nearest: int = NEAREST) -> list[Reasons]:
        """For each input the answer and what it rests on: how sure it is, the second choice, the task that answers, and the
        `nearest` exemplars. With `task`, for inputs that are known to belong to it, as its last visit left it."""
        if not isinstance(nearest, int) or isinstance(nearest, bool) or nearest < 0:
            raise UsageError(f"nearest is {nearest!r}; give a number of exemplars, 0 or more.")
        with self._answering() as snapshot:
            model = snapshot.model
            x, index = model._asked(X), model._index(task)
            self._make_ready(snapshot, index)
            explained = explanations(model.learner_, x, index, inference=self.inference, nearest=nearest)
            labels, visits = model._labels.by_output.tolist(), model.visits_
            return [_named(one, labels, visits) for one in explained]

    def _answering(self) -> AbstractContextManager[Snapshot]:
        raise NotImplementedError

    def _make_ready(self, snapshot: Snapshot, *visits: int | None) -> None:
        raise NotImplementedError


def _named(one: Explanation, labels: Sequence[Any], visits: Sequence[TaskName]) -> Reasons:
    """An explanation in the user's words; what a task was given at all its visits is added up."""
    task = None if one.task is None else visits[one.task]
    share: float | None = None
    if one.task_shares is not None:
        shares: dict[TaskName, float] = {}
        for name, part in zip(visits, one.task_shares, strict=False):  # one that has just begun may not be weighed yet
            shares[name] = shares.get(name, 0.0) + part
        task, share = max(shares.items(), key=lambda item: item[1])
    return Reasons(
        labels[one.label],
        one.probability,
        None if one.second is None else labels[one.second],
        one.second_probability,
        task,
        share,
        tuple(Alike(labels[each.label], visits[each.task], each.distance) for each in one.nearest),
    )
