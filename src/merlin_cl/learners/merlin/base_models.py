"""B base models learn a task online, each from a random part of the stream (Algorithm 1, line 2)."""

import torch
from torch import Tensor

from merlin_cl.learners.learner import State, as_float
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.network import Network


class BaseModels:
    """The B models of the current task. They take every arriving example with some probability, so they differ.

    A model that has just fitted the last few batches of a single pass is a poor one; the running mean of its weights along
    the way is far better, and costs no example and no update more.
    """

    def __init__(
        self, network: Network, start: Tensor, allowed: Tensor, settings: MerlinSettings, generator: torch.Generator
    ) -> None:
        self.bank = Bank(network, start.clone())  # what the optimiser moves, [B, P]
        self._average = start.clone()  # the mean of where it has been lately, [B, P]
        self._batches = 0
        self._training = Training(self.bank, settings.learning_rate, settings.weight_decay, settings.decoupled_decay)
        self._allowed = allowed
        self._settings = settings
        self._generator = generator

    @property
    def psi(self) -> Tensor:
        """Psi, [B, P]: the models that were learned."""
        return self._average if self._settings.averaging else self.bank.weights

    def admit(self, allowed: Tensor) -> None:
        """From now on choose among other outputs, bool [outputs]."""
        self._allowed = allowed

    def learn(self, x: Tensor, y: Tensor, old_x: Tensor, old_y: Tensor) -> None:
        """Update every model on an arriving batch x, y, and on some exemplars of earlier tasks out of old_x, old_y.

        Which of the arriving examples a model takes is settled once; exemplars are drawn for every model and update.
        """
        members, inputs, old_inputs = self.bank.members, as_float(x), as_float(old_x)
        shares = self._shares(len(y)).to(x.device)
        replay = min(self._settings.replay, len(old_y))
        for _ in range(self._settings.updates_per_batch):
            if replay == 0:
                self._training.step(inputs, y, self._allowed, shares)
            else:
                chosen = torch.randint(len(old_y), (members, replay), generator=self._generator).to(x.device)
                self._training.step(
                    torch.cat([inputs.expand(members, *inputs.shape), old_inputs[chosen]], dim=1),
                    torch.cat([y.expand(members, -1), old_y[chosen]], dim=1),
                    self._allowed,
                    torch.cat([shares, torch.ones_like(chosen, dtype=shares.dtype)], dim=1),
                )

        self._batches += 1
        # At first the mean of all batches so far, then a running one.
        decay = min(self._settings.averaging, self._batches / (self._batches + 9))
        self._average.lerp_(self.bank.weights, 1 - decay)

    def _shares(self, count: int) -> Tensor:
        """How often each model takes each example, [B, count]."""
        rate = torch.full((self.bank.members, count), self._settings.sampling_rate)
        draw = torch.bernoulli if self._settings.sampling == "bernoulli" else torch.poisson
        return draw(rate, generator=self._generator)

    def state(self) -> State:
        """Weights, moments and random state."""
        return {
            "weights": self.bank.weights.clone(),
            "average": self._average.clone(),
            "batches": self._batches,
            "training": self._training.state(),
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.bank.weights.copy_(state["weights"])
        self._average.copy_(state["average"])
        self._batches = state["batches"]
        self._training.restore(state["training"])
        self._generator.set_state(state["generator"])
