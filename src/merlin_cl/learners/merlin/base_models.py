"""B base models learn a task online, each from a random part of the stream (Algorithm 1, line 2)."""

from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.learners.augmentation import augmented
from merlin_cl.learners.learner import State, as_float
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.network import Network


class Examples(NamedTuple):
    """Inputs [N, *input_shape] and labels, int64 [N]."""

    x: Tensor
    y: Tensor


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
        self._old = self._all = 0.0  # examples of earlier tasks, and all, that took part in updates of a model
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

    def learn(self, x: Tensor, y: Tensor, old: Examples, own: Examples) -> None:
        """Update every model on an arriving batch x, y, and on exemplars out of those of earlier tasks and of its own.

        Which of the arriving examples a model takes is settled once; exemplars are drawn for every model and update.
        """
        members, inputs = self.bank.members, as_float(x)
        arriving = inputs.expand(members, *inputs.shape), y.expand(members, -1), self._shares(len(y)).to(x.device)
        old, own = (Examples(as_float(examples.x), examples.y) for examples in (old, own))
        for _ in range(self._settings.updates_per_batch):
            replayed, rehearsed = self._drawn(old, self._settings.replay), self._drawn(own, self._settings.rehearse)
            taken_x, taken_y, shares = (
                torch.cat(parts, dim=1) for parts in zip(arriving, replayed, rehearsed, strict=True)
            )
            pictures = augmented(taken_x, self._settings.augmentation, self._generator)
            self._training.step(pictures, taken_y, self._allowed, shares)
            self._old += replayed[1].shape[1]
            self._all += self._settings.sampling_rate * len(y) + replayed[1].shape[1] + rehearsed[1].shape[1]
        self._batches += 1
        # At first the mean of all batches so far, then a running one.
        decay = min(self._settings.averaging, self._batches / (self._batches + 9))
        self._average.lerp_(self.bank.weights, 1 - decay)

    @property
    def old_share(self) -> float:
        """The share of earlier tasks' examples in what the models learned from."""
        return self._old / max(1.0, self._all)

    def _drawn(self, examples: Examples, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Some of the examples for each model, [B, count, ...], their labels, and how often each is taken: once."""
        x, y = examples
        members, count = self.bank.members, count if len(y) else 0
        if count == 0:
            return x.new_zeros(members, 0, *x.shape[1:]), y.new_zeros(members, 0), x.new_zeros(members, 0)
        chosen = torch.randint(len(y), (members, count), generator=self._generator).to(x.device)
        return x[chosen], y[chosen], x.new_ones(members, count)

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
            "old": self._old,
            "all": self._all,
            "training": self._training.state(),
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.bank.weights.copy_(state["weights"])
        self._average.copy_(state["average"])
        self._batches, self._old, self._all = state["batches"], state["old"], state["all"]
        self._training.restore(state["training"])
        self._generator.set_state(state["generator"])
