"""Where a method with one network starts from: the network, its optimiser, and how it answers. The method says what an update is.

    class Confident(NetworkLearner[ConfidentSettings]):
        def _update(self, x, y):
            logits = self.forward(x)
            doubt = torch.distributions.Categorical(logits=logits).entropy().mean()
            self.descend(self.cross_entropy(logits, y) + self.settings.strength * doubt)

docs/write-your-own.md leads from here to a package.
"""

from abc import abstractmethod
from collections.abc import Iterable
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


class NetworkLearner(Learner[Settings]):
    """One network, trained as the stream passes, its optimiser going on from task to task as well.

    A method implements `_update(x, y)`, which is called `settings.updates_per_batch` times for every batch that arrives, and
    may use what is below: `forward(x)`, `cross_entropy(logits, y)` and `descend(loss)` are a training step, `learn(x, y)` the
    most usual one in a single call. `network` says what shape the network has and `bank` holds it, a bank of one: its weights
    are `bank.weights` [1, P], its answers without learning `bank.logits(x)[0]`. `training` is the optimiser.

    State, growth to more classes, answers and their masks come with it. A method that keeps more than the network adds that to
    `_state`, `_restore` and `stored_bytes`.
    """

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.network = settings.classifier(stream)
        self.bank = Bank(self.network, self.network.initial(1, self.generator("initial")).to(self.device))
        self.training = Training(
            self.bank, settings.learning_rate, settings.weight_decay, decoupled=False, optimiser=settings.optimiser
        )
        self.augmented = Augmenter(settings.augmentation, stream, self.generator("augmentation"))
        self._masks: dict[tuple[int, ...], Tensor] = {}

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The one network, if the method answers by its logits."""
        if type(self)._answers is not NetworkLearner._answers:
            return super().ensemble(task, models)
        self.require_one_model(models)
        return Bank(self.network, self.bank.weights.clone())

    def require_one_model(self, models: int | None) -> None:
        """Refuse to give several models where one network answers."""
        if models is not None and models > 1:
            raise UsageError(f"{self.settings.method} answers with one network; ask for 1 model, not {models}.")

    # What a method implements

    @abstractmethod
    def _update(self, x: Tensor, y: Tensor) -> None:
        """One update of the network on examples that arrive: x [N, *input_shape] as floats and augmented, y int64 [N]."""

    def _begin(self, task: TaskInfo) -> None:
        """Nothing to prepare."""

    def _observe(self, x: Tensor, y: Tensor) -> None:
        """Update the network as often as the settings say."""
        with self.phases.timed("base"):
            for _ in range(self.settings.updates_per_batch):
                self._update(self.augmented(as_float(x)), y)

    def _end(self) -> None:
        """Nothing to finish."""

    # What it may use

    def forward(self, x: Tensor) -> Tensor:
        """The network's logits [N, classes] for inputs x [N, *input_shape], in training, for a loss that `descend` takes.

        Examples of several kinds go through as one batch: `torch.cat` before, `logits.split` after.
        """
        return self.training.forward(x.unsqueeze(0))[0]

    def descend(self, loss: Tensor) -> None:
        """One step of the optimiser down a loss, a number, made of the logits that `forward` gave last."""
        self.training.backward(loss)
        self.training.update()

    def gradient(self, loss: Tensor) -> Tensor:
        """The gradient [P] of a loss made of the logits that `forward` gave last.

        `training.update()` follows it, with whatever the method has changed in it in place.
        """
        return self.training.backward(loss)[0]

    def learn(self, x: Tensor, y: Tensor) -> None:
        """One step on the mean cross-entropy among the classes that compete."""
        self.training.step(x, y, self.competing)

    def cross_entropy(self, logits: Tensor, y: Tensor, allowed: Tensor | None = None) -> Tensor:
        """The mean cross-entropy of logits [N, classes] with labels y [N]; of no examples, 0.

        `allowed` masks the classes that compete, bool [classes]; without it, those of `competing` do.
        """
        losses = cross_entropy(logits, y, self.competing if allowed is None else allowed)
        return losses.sum() / max(1, len(losses))

    @property
    def competing(self) -> Tensor:
        """The classes that compete in the loss, bool [classes]: those seen so far, unless the settings say all."""
        return self.mask_of(self.seen if self.settings.competing == "seen" else range(self.stream.classes))

    def mask_of(self, classes: Iterable[int]) -> Tensor:
        """Some classes as a mask, bool [classes], made once."""
        key = tuple(classes)
        if key not in self._masks:
            self._masks[key] = self._allowed([key])[0]
        return self._masks[key]

    def gradients_of(self, x: Tensor, y: Tensor, sizes: list[int]) -> Tensor:
        """The gradients [k, P] of the mean cross-entropies of k batches, one after another in x and y, each by itself."""
        if isinstance(self.network, MLP):  # a single pass serves all
            weighing = torch.tensor([1 / size for size in sizes for _ in range(size)], device=self.device)  # [N]
            allowed = self.competing
            return self.network.group_gradients(
                self.bank.weights[0], x, sizes, lambda logits: cross_entropy_slope(logits, y, allowed, weighing)[0]
            )
        parts = zip(x.split(sizes), y.split(sizes), strict=True)
        return torch.stack([self.gradient(self.cross_entropy(self.forward(x), y)).clone() for x, y in parts])

    # The life cycle

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        """The network's logits, masked."""
        return vote(self.bank.logits(as_float(x)), allowed, "sum-logits")

    def _state(self) -> State:
        """Weights, optimiser and random state."""
        return {
            "weights": self.bank.weights.clone(),
            "training": self.training.state(),
            **self.augmented.state(),
        }

    def _restore(self, state: State) -> None:
        """Take over weights, optimiser and random state."""
        self.bank.weights.copy_(state["weights"])
        self.training.restore(state["training"])
        self.augmented.restore(state)

    def _widened(self, state: State, narrow: Self) -> State:
        head = self._head_growth(narrow)
        weights, training = head.rows(state["weights"], self.bank.weights), head.moments(state["training"])
        return {**state, "weights": weights, "training": training}

    def _head_growth(self, narrow: Self) -> HeadGrowth:
        """How rows of a narrower learner's network become rows of this one's."""
        return HeadGrowth(narrow.network, self.network, range(narrow.network.classes))

    def stored_bytes(self) -> dict[str, int]:
        """The network, and the optimiser's moments, which live on between tasks."""
        moments = sum(value.numel() for value in self.training.state().values() if value.dim())
        return {"classifier": 4 * self.network.size, "optimiser": 4 * moments}

    def parameters(self) -> dict[str, int]:
        """Weights of the classifier."""
        return {"classifier": self.network.size}


def cross_entropy(logits: Tensor, y: Tensor, allowed: Tensor) -> Tensor:
    """The losses [N] of logits [N, classes] where only the `allowed` classes, bool [classes] or [N, classes], compete."""
    return functional.cross_entropy(logits.masked_fill(~allowed, MASKED), y, reduction="none")
