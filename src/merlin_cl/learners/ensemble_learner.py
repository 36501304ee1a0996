"""What MERLIN and its control share: exemplars, and an ensemble that is fitted to them before it answers.

They differ in nothing but where the ensemble's networks come from.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Self, TypeVar

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.augmentation import augmented, require_pictures
from merlin_cl.learners.divergence import is_finite
from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.uncertainty import Members
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.network import Network
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import MASKED, State, as_float, rows

Settings = TypeVar("Settings", bound=EnsembleSettings)
FINE_TUNE_BATCH = 20
"""Exemplars in a batch of fine-tuning."""


class EnsembleLearner(Learner[Settings]):
    """A learner that keeps exemplars and answers with E networks of one shape.

    Ensembles are made when an answer is first wanted and kept until more is learned. What they draw depends on the seed
    and the number of tasks only, so the same learner always answers the same.
    """

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        require_pictures(settings.augmentation, stream)
        self.network = settings.classifier(stream)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.exemplar_choice, stream.input_shape, self.generator("exemplars"), self.device
        )
        self.models = settings.models
        self._ensembles: dict[str, Bank] = {}  # those that are ready, by what they are for

    def prepare(self, models: int | None = None) -> None:
        """Choose the number of models that answer from now on (E); None: that of the settings."""
        models = self.settings.models if models is None else models
        if models < 1:
            raise UsageError(f"models is {models}; an ensemble needs at least 1.")
        if models != self.models:
            self.models = models
            self._forget_ensembles()

    def twin(self, state: State) -> Self:
        """Another learner, which goes on from a state of this one by itself, and answers with as many models."""
        twin = super().twin(state)
        twin.models = self.models
        return twin

    @abstractmethod
    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The networks that answer: for one task, or for all where the method has no others. `models`: how many."""

    def equal_members(self, logits: Tensor, classes: Iterable[int]) -> Members:
        """Members that weigh the same, from logits [M, N, outputs], choosing among some classes."""
        allowed = self.outputs(classes)
        probabilities = logits.masked_fill(~allowed, MASKED).softmax(dim=-1)
        return Members(probabilities, logits.new_full(logits.shape[1::-1], 1 / len(logits)))

    def _admitted(self) -> None:
        self._forget_ensembles()  # there are more classes to choose among

    def _forget_ensembles(self) -> None:
        """Make ensembles anew when they are next wanted."""
        self._ensembles.clear()

    def _initial(self, count: int, generator: torch.Generator) -> Tensor:
        """Fresh networks, [count, P]. Those of a learner that has grown are what they were before, with more outputs."""
        if self.made_for.classes == self.stream.classes:
            return self.network.initial(count, generator).to(self.device)
        first = self.settings.classifier(self.made_for)
        drawn = first.initial(count, generator)
        return self._head_growth(first).drawn(count, drawn, generator).to(self.device)

    def _head_growth(self, narrow: Network) -> HeadGrowth:
        """How rows of the network of a learner for fewer classes become rows of this one's."""
        return HeadGrowth(narrow, self.network, range(narrow.classes))

    def _widened(self, state: State, narrow: Self) -> State:
        self.models = narrow.models
        return state

    def fine_tuned(self, bank: Bank, purpose: str = "aggregate") -> Bank:
        """The bank, trained on all exemplars, each member in an order of its own, to choose among the classes seen."""
        settings, x, y, size = self.settings, self.memory.x, self.memory.y, FINE_TUNE_BATCH
        count, epochs = len(y), settings.fine_tune_epochs
        if count == 0 or epochs == 0:
            return bank
        generator = self.generator("fine-tune", purpose, len(self.tasks))
        training = Training(bank, settings.fine_tune_rate)
        inputs, allowed = as_float(x), self.outputs(self.seen)
        for _ in self.phases.steps("infer", range(epochs), epochs):
            order = torch.rand(bank.members, count, generator=generator).argsort(dim=1).to(y.device)  # [M, n]
            for start in range(0, count, size):
                chosen = order[:, start : start + size]
                training.step(augmented(rows(inputs, chosen), settings.augmentation, generator), y[chosen], allowed)
        if not is_finite([bank.weights, training.state()]):
            raise self._divergence("fitting networks to its exemplars", "their weights are no longer finite")
        return bank

    def outputs(self, classes: Iterable[int]) -> Tensor:
        """Which of the network's outputs stand for some classes: bool [outputs]."""
        mask = torch.zeros(self.network.classes, dtype=torch.bool, device=self.device)
        mask[list(classes)] = True
        return mask

    def stored_bytes(self) -> dict[str, int]:
        """The exemplars."""
        return {"exemplars": self.memory.stored_bytes}

    def parameters(self) -> dict[str, int]:
        """Weights of one classifier."""
        return {"classifier": self.network.size}
