"""What methods on fixed features share: inputs as they are, or the classifier's last hidden layer after the first task."""

from abc import abstractmethod
from typing import TypeVar

import torch
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.frozen_features_settings import FrozenSettings
from merlin_cl.protocol import Inference, StreamInfo
from merlin_cl.tensors import MASKED, State, as_float

Settings = TypeVar("Settings", bound=FrozenSettings)
UNKNOWN = 1e8
"""How far a class that was announced but has had no example scores below all others, at least."""


class FrozenFeatureLearner(NetworkLearner[Settings]):
    """A method that sums up features which do not change, so that it forgets nothing and the order of examples plays no part.

    Learned features are those of the classifier after the first task; examples of this task are kept until it ends, and only they
    are summed up of it.
    """

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.exemplar_choice, stream.input_shape, self.generator("exemplars"), self.device
        )

    @abstractmethod
    def _take(self, x: Tensor, y: Tensor) -> None:
        """Sum up examples, inputs as floats."""

    @abstractmethod
    def _scores(self, x: Tensor) -> Tensor:
        """Of every class, [N, classes], for inputs as floats."""

    @property
    @abstractmethod
    def _counts(self) -> Tensor:
        """Examples of each class that have been summed up, [classes]."""

    @property
    def _learned(self) -> bool:
        return self.settings.features == "learned"

    @property
    def _learning_features(self) -> bool:
        return self._learned and len(self.tasks) == 1 and self.learning

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(x, y)

    def _observe(self, x: Tensor, y: Tensor) -> None:
        if self._learning_features:
            super()._observe(x, y)
            self.memory.offer(x, y, 0)
        else:
            with self.phases.timed("base"):
                self._take(as_float(x), y)

    def _end(self) -> None:
        if self._learning_features and len(self.memory):
            self._take(as_float(self.memory.x), self.memory.y)
            self.memory.keep([])

    def _frozen(self, x: Tensor) -> Tensor:
        """What stands for inputs, [N, d], in double precision."""
        if not self._learned:
            return x.flatten(1).double()
        with torch.inference_mode():
            return self.network.features(self.bank.weights, x.unsqueeze(0))[0].double()

    @property
    def _frozen_width(self) -> int:
        """d."""
        if not self._learned:
            return int(torch.Size(self.stream.input_shape).numel())
        return self.network.shapes[self.network.head[0]][0]

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        known = self._counts > 0
        if not known.any():
            return super()._answers(x, allowed, task, inference)
        scores = self._scores(as_float(x))
        lowest = scores[:, known].amin(dim=1, keepdim=True)
        scores = torch.where(known, scores, lowest - lowest.abs() - UNKNOWN).float()  # [N, classes]
        return torch.where(allowed[:, None, :], scores, MASKED)

    def _state(self) -> State:
        return {**super()._state(), "memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.memory.restore(state["memory"])

    def stored_bytes(self) -> dict[str, int]:
        """With learned features the network, and within the first task its examples; otherwise nothing but what is summed up."""
        return {"classifier": 4 * self.network.size, "exemplars": self.memory.stored_bytes} if self._learned else {}
