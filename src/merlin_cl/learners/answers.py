"""A learner's answers as probabilities, for a user who may know the task."""

from typing import Any

from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.protocol import Inference


def inference_for(learner: Learner[Any], task: int | None, inference: Inference | None) -> Inference | None:
    """How to answer: as the method does for a known task, if there is one and it can; otherwise as asked."""
    return "aware" if task is not None and "aware" in learner.inferences else inference


def probabilities(learner: Learner[Any], x: Tensor, task: int | None, inference: Inference | None) -> Tensor:
    """The probability of each class, [N, classes]; 0 for classes not seen yet, or not of the task where one is known."""
    among = [learner.seen if task is None else learner.tasks[task].classes]
    scores = learner.logits(x, task, inference=inference_for(learner, task, inference), among=among)[0]
    return scores.double().softmax(dim=1)
