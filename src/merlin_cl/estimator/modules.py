"""A learner's networks as plain `torch.nn` modules, and its whole answer as one: what can leave this package."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from merlin_cl.inputs.standardisation import LIMIT, Standardisation
from merlin_cl.learners.learner import Learner
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.cosine import CosineNetwork
from merlin_cl.networks.growth import positions_of
from merlin_cl.protocol import Inference
from merlin_cl.tensors import MASKED, as_float


def plain_modules(bank: Bank, outputs: Sequence[int], allowed: Iterable[int]) -> list[nn.Module]:
    """Every member as a module that gives the logits of some outputs, in this order, for inputs as floats.

    An output that may not be answered gives -1e10, whatever the input.
    """
    network = bank.network.with_outputs(len(outputs))
    rows = bank.weights[:, positions_of(bank.network, outputs).to(bank.weights.device)].cpu()
    weight, bias = (network.views(rows)[name] for name in network.head)
    barred = [place for place, output in enumerate(outputs) if output not in set(allowed)]
    weight[..., barred], bias[..., barred] = 0, MASKED
    modules = [network.module(row).eval() for row in rows]
    if isinstance(network, CosineNetwork):  # whose bias plays no part
        return [nn.Sequential(module, Barred(barred)) for module in modules]
    return modules


class Barred(nn.Module):
    """Logits of which some are -1e10."""

    def __init__(self, outputs: Sequence[int]) -> None:
        super().__init__()
        self.outputs = list(outputs)

    def forward(self, logits: Tensor) -> Tensor:
        """The same [N, outputs] without those that may not be answered."""
        return logits.index_fill(1, torch.tensor(self.outputs, dtype=torch.int64, device=logits.device), MASKED)


class InputsAsLearned(nn.Module):
    """Inputs in the form in which a user has them to floats as a network takes them."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, standardisation: Standardisation | None) -> None:
        super().__init__()
        self.standardised = standardisation is not None
        if standardisation is not None:
            self.register_buffer("mean", standardisation.mean.float())
            self.register_buffer("deviation", standardisation.deviation.float())

    def forward(self, x: Tensor) -> Tensor:
        """Bytes become numbers from 0 to 1; numbers are standardised, if those learned from were."""
        x = as_float(x)
        return ((x - self.mean) / self.deviation).clamp(-LIMIT, LIMIT) if self.standardised else x


class ModuleAnswer(nn.Module):
    """One network's answer: inputs as a user has them to probabilities."""

    def __init__(self, inputs: InputsAsLearned, network: nn.Module) -> None:
        super().__init__()
        self.inputs, self.network = inputs, network

    def forward(self, x: Tensor) -> Tensor:
        """Probabilities [N, classes]."""
        answer: Tensor = self.network(self.inputs(x)).softmax(dim=1)
        return answer


class LearnerAnswer(nn.Module):
    """A learner's whole answer, ensembles and all: inputs as a user has them to probabilities.

    Its weights are those that the learner has ready: it is to be used, or exported, before the learner learns more.
    """

    def __init__(
        self,
        inputs: InputsAsLearned,
        learner: Learner[Any],
        outputs: Sequence[int],
        task: int | None,
        inference: Inference | None,
    ) -> None:
        super().__init__()
        self.inputs = inputs
        self._learner, self._outputs, self._task = learner, list(outputs), task
        self._inference = learner.inference_for(task, inference) or learner.inferences[0]

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Probabilities [N, classes]."""
        learner = self._learner
        classes = learner.seen if self._task is None else learner.tasks[self._task].classes
        scores = learner._answers(self.inputs(x), learner._allowed([classes]), self._task, self._inference)[0]
        probabilities = scores.softmax(dim=1)[:, self._outputs]
        return probabilities / probabilities.sum(dim=1, keepdim=True)
