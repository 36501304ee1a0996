"""What rivals with one network share: the network, its optimiser, and how it answers. A method says what an update is."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Self, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.augmentation import Augmenter
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank, Training, cross_entropy_slope
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.mlp import MLP
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State, as_float

Settings = TypeVar("Settings", bound=NetworkSettings)
Part = tuple[Tensor, Callable[[Tensor], Tensor]]
"""Inputs x [n, *input_shape] as floats, and what the network's logits [n, classes] on them cost, a number."""


class NetworkLearner(Learner[Settings]):
    """One network (a bank of one), trained as the stream passes, the optimiser going on from task to task as well."""

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.network = settings.classifier(stream)
        self._bank = Bank(self.network, self.network.initial(1, self.generator("initial")).to(self.device))
        self._training = Training(
            self._bank, settings.learning_rate, settings.weight_decay, decoupled=False, optimiser=settings.optimiser
        )
        self._augmented = Augmenter(settings.augmentation, stream, self.generator("augmentation"))
        self._masks: dict[tuple[int, ...], Tensor] = {}

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The one network, if the method answers by its logits."""
        if type(self)._answers is not NetworkLearner._answers:
            return super().ensemble(task, models)
        if models is not None and models > 1:
            raise UsageError(f"{self.settings.method} answers with one network; ask for 1 model, not {models}.")
        return Bank(self.network, self._bank.weights.clone())

    # What a method implements

    @abstractmethod
    def _update(self, x: Tensor, y: Tensor) -> None:
        """One update of the network on arriving examples, inputs as floats and augmented."""

    def _begin(self, task: TaskInfo) -> None:
        pass

    def _observe(self, x: Tensor, y: Tensor) -> None:
        with self.phases.timed("base"):
            for _ in range(self.settings.updates_per_batch):
                self._update(self._augmented(as_float(x)), y)

    def _end(self) -> None:
        pass

    # What it may use

    def _gradient(self, *parts: Part) -> Tensor:
        """The gradient [P], of the sum of the parts' losses, that `_training.update()` will follow.

        All parts go through the network as one batch.
        """
        inputs, losses = zip(*(part for part in parts if len(part[0])), strict=True)

        def loss(logits: Tensor) -> Tensor:
            of_parts = logits[0].split([len(x) for x in inputs])
            return torch.stack([cost(part) for cost, part in zip(losses, of_parts, strict=True)]).sum()

        return self._training.gradient(torch.cat(inputs).unsqueeze(0), loss)[0]

    def _gradients_of(self, x: Tensor, y: Tensor, sizes: list[int]) -> Tensor:
        """The gradients [k, P] of the mean cross-entropies of k batches, one after another in x and y, each by itself."""
        if isinstance(self.network, MLP):  # a single pass serves all
            weighing = torch.tensor([1 / size for size in sizes for _ in range(size)], device=self.device)  # [N]
            allowed = self._competing
            return self.network.group_gradients(
                self._bank.weights[0], x, sizes, lambda logits: cross_entropy_slope(logits, y, allowed, weighing)[0]
            )
        parts = zip(x.split(sizes), y.split(sizes), strict=True)
        return torch.stack([self._gradient((inputs, self._cross_entropy(labels))).clone() for inputs, labels in parts])

    def _descend(self, *parts: Part) -> None:
        """One step on the sum of the parts' losses."""
        self._gradient(*parts)
        self._training.update()

    def _cross_entropy(self, y: Tensor, allowed: Tensor | None = None) -> Callable[[Tensor], Tensor]:
        """The mean cross-entropy of logits with labels y, among the classes in `allowed` or those that compete."""
        among = self._competing if allowed is None else allowed
        return lambda logits: cross_entropy(logits, y, among).mean()

    @property
    def _competing(self) -> Tensor:
        """The classes that compete in the loss, bool [classes]."""
        return self._choosing(self.seen if self.settings.competing == "seen" else range(self.stream.classes))

    def _choosing(self, classes: Iterable[int]) -> Tensor:
        """Some classes as a mask, bool [classes], made once."""
        key = tuple(classes)
        if key not in self._masks:
            self._masks[key] = self._allowed([key])[0]
        return self._masks[key]

    # The life cycle

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._bank.logits(as_float(x)), allowed, "sum-logits")

    def _state(self) -> State:
        return {
            "weights": self._bank.weights.clone(),
            "training": self._training.state(),
            **self._augmented.state(),
        }

    def _restore(self, state: State) -> None:
        self._bank.weights.copy_(state["weights"])
        self._training.restore(state["training"])
        self._augmented.restore(state)

    def _widened(self, state: State, narrow: Self) -> State:
        head = self._head_growth(narrow)
        weights, training = head.rows(state["weights"], self._bank.weights), head.moments(state["training"])
        return {**state, "weights": weights, "training": training}

    def _head_growth(self, narrow: Self) -> HeadGrowth:
        """How rows of a narrower learner's network become rows of this one's."""
        return HeadGrowth(narrow.network, self.network, range(narrow.network.classes))

    def stored_bytes(self) -> dict[str, int]:
        """The network, and the optimiser's moments, which live on between tasks."""
        moments = sum(value.numel() for value in self._training.state().values() if value.dim())
        return {"classifier": 4 * self.network.size, "optimiser": 4 * moments}

    def parameters(self) -> dict[str, int]:
        """Weights of the classifier."""
        return {"classifier": self.network.size}


def cross_entropy(logits: Tensor, y: Tensor, allowed: Tensor) -> Tensor:
    """The losses [N] of logits [N, classes] where only the `allowed` classes, bool [classes] or [N, classes], compete."""
    return functional.cross_entropy(logits.masked_fill(~allowed, MASKED), y, reduction="none")
