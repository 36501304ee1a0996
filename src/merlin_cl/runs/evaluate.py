"""Accuracy on every task seen, under every view and inference mode, from one pass over the test data a mode."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.protocol import Inference, StreamInfo, View

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Question:
    """What is asked of a learner: choose among which classes (the view), answering how (the inference mode)."""

    view: View
    inference: Inference | None


def questions(learner: Learner[Any], stream: StreamInfo, inference: str) -> list[Question]:
    """Every question that makes sense for a learner on a stream; `inference` is one mode or `all`."""
    modes = learner.inferences
    if inference != "all":
        modes = tuple(mode for mode in modes if mode == inference)
        if not modes:
            known = ", ".join(["all", *(str(mode) for mode in learner.inferences if mode is not None)])
            raise UsageError(f"{learner.settings.method} has no inference mode {inference!r}; choose from: {known}.")
    return [Question(view, mode) for mode in modes for view in _views(stream, mode)]


def accuracies(
    learner: Learner[Any], stream: "Stream", tasks: int, asked: list[Question], told: Told
) -> dict[Question, list[float]]:
    """The accuracy in percent on each of the first `tasks` tasks, for every question.

    Only the mode `aware` is told the task; all views of a mode come from one pass.
    """
    rows: dict[Question, list[float]] = {question: [] for question in asked}
    seen = learner.seen
    for j in range(tasks):
        task = stream[j]
        x, y = task.test()
        for mode in dict.fromkeys(question.inference for question in asked):
            views = [question for question in asked if question.inference == mode]
            among = [task.info.classes if question.view == "task-masked" else seen for question in views]
            logits = learner.logits(
                x, task=j if mode == "aware" else None, inference=mode, among=among
            )  # [V, N, classes]
            correct = (logits.argmax(dim=2).cpu() == y.cpu()).sum(dim=1)  # [V]
            for question, count in zip(views, correct.tolist(), strict=True):
                rows[question].append(100 * count / len(y))
        told("evaluate", j + 1, tasks)
    return rows


def _views(stream: StreamInfo, mode: Inference | None) -> tuple[View, ...]:
    """Knowing the task, a learner that chooses among all classes would be asked something nobody wants to know."""
    return tuple(view for view in stream.views if not (mode == "aware" and view == "class-incremental"))
