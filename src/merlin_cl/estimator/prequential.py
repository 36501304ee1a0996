"""An estimator that is asked about every example before it learns it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from merlin_cl.errors import InputError, UsageError
from merlin_cl.metrics.prequential import WINDOW, RunningScore

if TYPE_CHECKING:
    from merlin_cl.estimator.classifier import ContinualClassifier


@dataclass(frozen=True)
class Prequential:
    """What came of it."""

    overall: RunningScore
    by_task: dict[Any, RunningScore]
    """Of the examples of each task; where tasks are not told, of the task that they turned out to belong to."""


def evaluate_prequential(
    model: ContinualClassifier, X: Any, y: Any, task: Any = None, *, every: int | None = None, window: int = WINDOW
) -> Prequential:
    """Ask a model about examples X, y in their order, `every` so many (its batch size), and have it learn them right after.

    `task` is the task of all examples, or has that of each. The answer to a class that nobody has taught yet is wrong. The model
    goes on from what it knows, and knows the examples afterwards.

    >>> from sklearn.datasets import load_digits
    >>> from merlin_cl import ContinualClassifier, evaluate_prequential
    >>> X, y = load_digits(return_X_y=True)
    >>> scores = evaluate_prequential(ContinualClassifier("slda"), X[:600] / 16, y[:600])
    >>> f"{scores.overall.accuracy:.0%} at first sight, {scores.overall.recent_accuracy:.0%} at the end"
    '93% at first sight, 94% at the end'
    """
    labels = np.asarray(y)
    count = len(X) if not hasattr(X, "shape") else X.shape[0]
    if len(labels) != count:
        raise InputError(f"There are {count} inputs but {len(labels)} labels; give one label for each.")
    each = model.batch_size if every is None else every
    if not isinstance(each, int) or isinstance(each, bool) or each < 1:
        raise UsageError(f"every is {each!r}; give a number of examples of at least 1.")
    tasks = np.asarray(task, dtype=object) if isinstance(task, list | tuple | np.ndarray) else None
    if tasks is not None and len(tasks) != count:
        raise InputError(f"There are {count} inputs but {len(tasks)} tasks; give one task for all, or one for each.")
    overall = RunningScore(window)
    by_task: dict[Any, RunningScore] = {}
    start = 0
    while start < count:
        stop = min(start + each, count)
        name = task if tasks is None else tasks[start]
        if tasks is not None:
            stop = next((at for at in range(start, stop) if tasks[at] != name), stop)
        some = X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]
        judged = _judged(model, some, labels[start:stop])
        model.partial_fit(some, labels[start:stop], task=name)
        overall.add(*judged)
        by_task.setdefault(model.visits_[-1], RunningScore(window)).add(*judged)
        start = stop
    return Prequential(overall, by_task)


def _judged(
    model: ContinualClassifier, X: Any, labels: np.ndarray[Any, Any]
) -> tuple[list[Hashable], list[Hashable], list[float], list[bool]]:
    """Labels, answers, what the labels were given, and whether they were known."""
    truths = labels.tolist()
    if not model.__sklearn_is_fitted__():
        return truths, [None] * len(truths), [0.0] * len(truths), [False] * len(truths)
    probabilities, classes = model._probabilities(X, None)
    places = {label: at for at, label in enumerate(classes.tolist())}
    given = [
        float(row[places[label]]) if label in places else 0.0 for row, label in zip(probabilities, truths, strict=True)
    ]
    return truths, classes[probabilities.argmax(axis=1)].tolist(), given, [label in places for label in truths]
