"""How good settings are: a learner for each seed learns the first tasks, and is asked about held-out images after each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.metrics import mean
from merlin_cl.runs.evaluate import Question, evaluate, questions
from merlin_cl.runs.learning import learn_task
from merlin_cl.tuning.plan import Plan

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream


class DrawnTasks:
    """The first tasks as one seed draws them, kept to be learned once in every trial."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.seed = seed
        self.stream: Stream = plan.stream.build(seed, plan.data)
        self.batches: list[list[tuple[Tensor, Tensor]]] = [list(task.batches(plan.batch_size)) for task in self.stream]

    def learn(self, learner: Learner[Any], task: int) -> None:
        """One task, each example once."""
        learn_task(learner, self.stream[task].info, self.batches[task], len(self.batches[task]), self.seed)

    def accuracy(self, learner: Learner[Any], tasks: int, question: Question) -> float:
        """The mean accuracy on the first tasks, in percent."""
        return mean(evaluate(learner, self.stream, tasks, [question], lambda *_: None)[question].accuracies)


def asked(settings: MethodSettings, drawn: DrawnTasks) -> Question:
    """What counts: the first view of the stream (all classes compete), by the first inference mode of the method."""
    return questions(settings.build(drawn.stream.info, drawn.seed), drawn.stream.info, "all")[0]


def learning(settings: MethodSettings, draws: list[DrawnTasks]) -> Iterator[float]:
    """After each task: the average incremental accuracy so far, mean over the seeds' draws."""
    learners = [settings.build(drawn.stream.info, drawn.seed) for drawn in draws]
    question = asked(settings, draws[0])
    points: list[float] = []  # accuracy on all tasks so far, after each task
    for task in range(len(draws[0].stream)):
        for drawn, learner in zip(draws, learners, strict=True):
            drawn.learn(learner, task)
        points.append(
            mean([drawn.accuracy(learner, task + 1, question) for drawn, learner in zip(draws, learners, strict=True)])
        )
        yield mean(points)
