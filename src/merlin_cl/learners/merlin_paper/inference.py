"""Algorithm 3: models are sampled from the decoder, fine-tuned on exemplars, and answer together."""

from dataclasses import dataclass

import torch
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.merlin_paper.base_models import WEIGHT_DECAY
from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.training import batches_of, training_of
from merlin_cl.learners.merlin_paper.vae import Gaussian
from merlin_cl.learners.phases import Phases
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.network import Network
from merlin_cl.tensors import as_float

RATE, BATCH = 1e-3, 10
"""Adam's learning rate and the size of a batch in fine-tuning, from the authors' code."""


@dataclass(frozen=True)
class Inference:
    """How ensembles are made: Psi, lines 2 to 4, and Psi_j, lines 8 to 10. Line 5 or 11, the vote, is the learner's."""

    network: Network
    epochs: int
    device: torch.device
    phases: Phases

    def task_agnostic(
        self,
        distribution: WeightDistribution,
        memory: ExemplarMemory,
        models: int,
        allowed: Tensor,
        generator: torch.Generator,
    ) -> Bank:
        """Psi for all tasks, fine-tuned with the `allowed` outputs competing."""
        prior = distribution.aggregate_prior()  # line 2: the mean of all mu_i, the mean of all Sigma_i
        psi = self.sampled(distribution, prior, models, generator)  # line 3
        return self.fine_tuned(psi, memory.x, memory.y, allowed, generator)  # line 4, on all exemplars

    def task_aware(
        self,
        distribution: WeightDistribution,
        memory: ExemplarMemory,
        j: int,
        models: int,
        allowed: Tensor,
        generator: torch.Generator,
    ) -> Bank:
        """Psi_j for task j alone."""
        prior = distribution.priors[j]  # line 8
        psi = self.sampled(distribution, prior, models, generator)  # line 9
        return self.fine_tuned(psi, *memory.of_task(j), allowed, generator)  # line 10, on Ex_j

    def sampled(
        self, distribution: WeightDistribution, prior: Gaussian, models: int, generator: torch.Generator
    ) -> Bank:
        """Models as they come from the decoder, one z each."""
        return Bank(self.network, distribution.sample(prior, models, generator).to(self.device))

    def fine_tuned(self, psi: Bank, x: Tensor, y: Tensor, allowed: Tensor, generator: torch.Generator) -> Bank:
        """The models trained on exemplars x, y, each in an order of its own."""
        training, inputs = training_of(psi, RATE, WEIGHT_DECAY), as_float(x)
        for _ in self.phases.steps("infer", range(self.epochs), self.epochs):
            order = torch.rand(psi.members, len(y), generator=generator).argsort(dim=1).to(y.device)  # [E, n]
            training.learn(inputs, y, batches_of(order, BATCH), allowed)
        return psi
