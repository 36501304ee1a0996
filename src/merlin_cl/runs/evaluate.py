"""Accuracy and calibration on every task seen, under every view and inference mode, from one pass over the test data a mode."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Asked, Learner
from merlin_cl.metrics import uncertainty
from merlin_cl.protocol import Inference, StreamInfo, View
from merlin_cl.runs.calibration import COVERED, Calibration

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

ProgressCallback = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Question:
    """What is asked of a learner: choose among which classes (the view), answering how (the inference mode)."""

    view: View
    inference: Inference | None


@dataclass(frozen=True)
class Evaluation:
    """The answers to one question, measured."""

    accuracies: list[float]
    """In percent, on each task."""
    calibration: Calibration | None
    """None for a method that gives no probabilities."""


def questions(learner: Learner[Any], stream: StreamInfo, inference: str) -> list[Question]:
    """Every question that makes sense for a learner on a stream; `inference` is one mode or `all`."""
    modes = learner.inferences
    if inference != "all":
        modes = tuple(mode for mode in modes if mode == inference)
        if not modes:
            known = ", ".join(["all", *(str(mode) for mode in learner.inferences if mode is not None)])
            raise UsageError(f"{learner.settings.method} has no inference mode {inference!r}; choose from: {known}.")
    return [Question(view, mode) for mode in modes for view in _views(stream, mode)]


def evaluate(
    learner: Learner[Any], stream: "Stream", tasks: int, asked: list[Question], told: ProgressCallback
) -> dict[Question, Evaluation]:
    """What every question finds on the test sets of the first `tasks` tasks.

    Only the mode `aware` is told the task; all views of a mode come from one pass, and so do accuracies and probabilities.
    """
    rows: dict[Question, list[float]] = {question: [] for question in asked}
    answers = {question: _Answers() for question in asked}
    seen = learner.seen
    for j in range(tasks):
        task = stream[j]
        x, y = task.test()
        modes = {
            mode: [question for question in asked if question.inference == mode]
            for mode in dict.fromkeys(question.inference for question in asked)
        }
        class_sets = [
            [task.info.classes if one.view == "task-masked" else seen for one in views] for views in modes.values()
        ]
        told_task = [j if mode == "aware" else None for mode in modes]
        answers_by_mode = learner.answers(x, [Asked(*one) for one in zip(told_task, modes, class_sets, strict=True)])
        for views, logits in zip(modes.values(), answers_by_mode, strict=True):  # [V, N, classes]
            correct = logits.argmax(dim=2).cpu() == y.cpu()  # [V, N]
            for question, count in zip(views, correct.sum(dim=1).tolist(), strict=True):
                rows[question].append(100 * count / len(y))
            if learner.gives_probabilities:
                for question, scores, right in zip(views, logits, correct, strict=True):
                    answers[question].add(scores.softmax(dim=1).cpu(), y.cpu(), right)
        told("evaluate", j + 1, tasks)
    last = tasks == stream.info.tasks
    return {question: Evaluation(rows[question], answers[question].measured(last)) for question in asked}


class _Answers:
    """What is kept of the answers to one question: three numbers an example, whatever the number of classes."""

    def __init__(self) -> None:
        self.log_losses: list[np.ndarray] = []
        self.squared_errors: list[np.ndarray] = []
        self.confidence: list[np.ndarray] = []
        self.correct: list[np.ndarray] = []

    def add(self, probabilities: Tensor, y: Tensor, correct: Tensor) -> None:
        """Answers to the examples of a task: probabilities [N, classes], labels [N], and which answers are right, bool [N]."""
        given, labels = probabilities.numpy(), y.numpy()
        self.log_losses.append(uncertainty.log_losses(given, labels))
        self.squared_errors.append(uncertainty.squared_errors(given, labels))
        self.confidence.append(probabilities.max(dim=1).values.numpy())
        self.correct.append(correct.numpy())

    def measured(self, last: bool) -> Calibration | None:
        """Over all examples; the table and the risks are for the figures of the `last` evaluation. None without probabilities."""
        if not self.correct:
            return None
        confidence, correct = np.concatenate(self.confidence), np.concatenate(self.correct)
        bins = uncertainty.reliability(confidence, correct)
        measured = Calibration(
            nll=float(np.concatenate(self.log_losses).mean()),
            brier=float(np.concatenate(self.squared_errors).mean()),
            ece=100 * uncertainty.calibration_error(bins),
        )
        if not last:
            return measured
        risks = uncertainty.risk_coverage(confidence, correct)
        covered = uncertainty.risks_at(risks, [share / 100 for share in COVERED])
        return replace(
            measured,
            reliability=[[one.count, _percent(one.confidence), _percent(one.accuracy)] for one in bins],
            risks=[_percent(risk) for risk in covered],
            risk_area=_percent(float(risks.mean())),
        )


def _percent(share: float) -> float:
    return round(100 * share, 4)


def _views(stream: StreamInfo, mode: Inference | None) -> tuple[View, ...]:
    """Knowing the task, a learner that chooses among all classes would be asked something nobody wants to know."""
    return tuple(view for view in stream.views if not (mode == "aware" and view == "class-incremental"))
