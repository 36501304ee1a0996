"""One network that answers as a whole learner does."""

from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.learner import Learner
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.growth import positions_of
from merlin_cl.protocol import Inference
from merlin_cl.tensors import MASKED, as_float

BATCH, RATE = 64, 1e-3


def distilled(
    learner: Learner[Any], x: Tensor | None, task: int | None, inference: Inference | None, steps: int
) -> Bank:
    """A bank of one network that has learned to answer as the learner does on inputs x, or on its exemplars without.

    Between the inputs, too: each step takes mixtures of two inputs (Zhang et al. 2018), of which the learner can be asked
    just as well, so that a few hundred exemplars go a long way. (Hinton et al. 2015, at temperature 1.)
    """
    if steps < 1:
        raise UsageError(f"steps is {steps}; it must be at least 1.")
    inputs = as_float(_exemplars(learner, task) if x is None else x.to(learner.device))
    bank, draws = _start(learner, task), learner.generator("distil")
    training = Training(bank, RATE)
    allowed = learner._allowed([learner.seen if task is None else learner.tasks[task].classes])[0]
    for _ in learner.phases.steps("distil", range(steps), steps):
        first, second = torch.randint(len(inputs), (2, BATCH), generator=draws).to(inputs.device)
        share = torch.rand(BATCH, generator=draws).to(inputs.device).view(-1, *[1] * (inputs.dim() - 1))
        mixed = share * inputs[first] + (1 - share) * inputs[second]
        wanted = learner.probabilities(mixed, task, inference=inference).float()

        def loss(logits: Tensor, wanted: Tensor = wanted) -> Tensor:
            log = logits[0].masked_fill(~allowed, MASKED).log_softmax(dim=1)
            return -(wanted * log.clamp(min=-100)).sum(dim=1).mean()

        training.gradient(mixed.unsqueeze(0), loss)
        training.update()
    return bank


def _exemplars(learner: Learner[Any], task: int | None) -> Tensor:
    memory = getattr(learner, "memory", None)
    if memory is None or len(memory) == 0:
        raise UsageError(f"{learner.settings.method} keeps no exemplars to distil on; give inputs X.")
    exemplars: Tensor = memory.x if task is None else memory.of_task(task)[0]
    return exemplars


def _start(learner: Learner[Any], task: int | None) -> Bank:
    """Where the network begins: in the middle of an ensemble, whose members come from one place, or anew."""
    network = ClassifierSettings.classifier(learner.settings, learner.stream)
    if isinstance(learner, EnsembleLearner):
        ensemble = learner.ensemble(task)
        rows = ensemble.weights[:, positions_of(ensemble.network, range(network.classes)).to(learner.device)]
        return Bank(network, rows.mean(dim=0, keepdim=True))
    return Bank(network, network.initial(1, learner.generator("distil", "initial")).to(learner.device))
