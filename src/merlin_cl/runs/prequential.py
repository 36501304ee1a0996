"""A stream on which every batch is answered before it is learned: no test set, no second look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.metrics.prequential import RunningScore
from merlin_cl.streams.stream import Stream

Listener = Callable[[int, int, int, float], None]
"""Told of the task, its examples so far and in all, and the accuracy of late."""


def prequential(
    learner: Learner[Any], stream: Stream, batch_size: int, window: int, listener: Listener
) -> tuple[RunningScore, list[RunningScore]]:
    """Figures over the whole stream, and of each task. Where a task begins, nobody says so before its first batch is answered."""
    overall, by_task = RunningScore(window), []
    for task in stream:
        score = RunningScore(window)
        by_task.append(score)
        for x, y in task.batches(batch_size):
            judged = _judged(learner, x, y)
            if not learner.learning:
                learner.begin(task.info)
            learner.observe(x, y)
            for one in (overall, score):
                one.add(*judged)
            listener(task.info.index, score.examples, task.train_count, overall.recent_accuracy)
        learner.end()
    return overall, by_task


def _judged(learner: Learner[Any], x: Tensor, y: Tensor) -> tuple[list[int], list[int | None], list[float], list[bool]]:
    """Labels, answers, what the labels were given, and whether they were known; a learner that knows nothing answers nothing."""
    truths, known = y.tolist(), set(learner.seen)
    if not known:
        return truths, [None] * len(truths), [0.0] * len(truths), [False] * len(truths)
    probabilities = learner.probabilities(x).cpu()
    given = probabilities.gather(1, y.cpu().long().unsqueeze(1)).squeeze(1).tolist()
    return truths, probabilities.argmax(dim=1).tolist(), given, [label in known for label in truths]
