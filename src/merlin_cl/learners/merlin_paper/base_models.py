"""Algorithm 1, line 2: B base models learn a task online, each from a random part of its examples."""

import math

import torch
from torch import Tensor

from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.merlin_paper.training import NOBODY, training_of
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.network import Network
from merlin_cl.tensors import State, as_float

WEIGHT_DECAY = 1e-3
"""An L2 term in the gradient of Adam, for base models and, as in the authors' code, in fine-tuning."""


class BaseModels:
    """Psi_j = {psi_j^1 .. psi_j^B}, a bank of B networks, while they learn task j."""

    def __init__(
        self, network: Network, settings: MerlinPaperSettings, generator: torch.Generator, device: torch.device
    ) -> None:
        self._settings, self._recipe, self._generator = settings, settings.recipe, generator
        self.bank = Bank(network, _start(network, settings, generator).to(device))
        self._training = training_of(self.bank, self._recipe.learning_rate, WEIGHT_DECAY)

    @property
    def psi(self) -> Tensor:
        """The models as they are, [B, P]."""
        return self.bank.weights

    def learn(self, x: Tensor, y: Tensor, allowed: Tensor) -> None:
        """Update every model on a batch: each takes an example with some probability; `allowed` outputs compete in the loss."""
        rate = torch.full((self.bank.members, len(y)), self._settings.sampling_rate)
        taken = torch.bernoulli(rate, generator=self._generator).to(x.device)  # [B, N]
        places = torch.arange(len(y), device=x.device).where(taken.bool(), NOBODY)
        batches = places.unsqueeze(1).expand(-1, self._recipe.updates_per_batch, -1)  # [B, updates, N]
        self._training.learn(as_float(x), y, batches, allowed)

    def state(self) -> State:
        """Weights, moments and random state."""
        return {
            "weights": self.bank.weights.clone(),
            "training": self._training.state(),
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.bank.weights.copy_(state["weights"])
        self._training.restore(state["training"])
        self._generator.set_state(state["generator"])


def _start(network: Network, settings: MerlinPaperSettings, generator: torch.Generator) -> Tensor:
    """Where base models start, [B, P]: each drawn as `torch.nn` draws it, or all at one point. The authors' MLP has the
    weights of Glorot and Bengio (2010) and no biases; they did not publish their ResNet."""
    if not settings.recipe.shared_start:
        return network.initial(settings.base_models, generator)
    start = network.initial(1, generator)
    if isinstance(network, MLP):
        for view in network.views(start).values():
            if view.dim() == 3:  # [1, in, out]
                bound = math.sqrt(6 / sum(view.shape[1:]))
                view.uniform_(-bound, bound, generator=generator)
            else:
                view.zero_()
    return start.repeat(settings.base_models, 1)
