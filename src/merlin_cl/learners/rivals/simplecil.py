"""`simplecil`: the mean of each class's fixed features, and the class whose mean points the same way answers."""

from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.class_statistics import grown
from merlin_cl.learners.rivals.frozen_features import FrozenFeatureLearner
from merlin_cl.learners.rivals.simplecil_settings import SimpleCILSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State


class SimpleCIL(FrozenFeatureLearner[SimpleCILSettings]):
    """Prototypes of a frozen network (Zhou et al. 2024, "Revisiting class-incremental learning with pre-trained models:
    generalizability and adaptivity are all you need").

    The prototype of a class is the mean of its features; a score is the cosine between an input's features and it. Deviations:
    theirs are features of a vision transformer; ours are the inputs, or features learned in the first task, which is what their
    ADAM (later APER) adds; inputs of either sign are taken as they are.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'simplecil', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '87 %'
    """

    gives_probabilities: ClassVar[bool] = False  # a cosine is no likelihood: nothing says how steeply it falls

    def __init__(self, stream: StreamInfo, settings: SimpleCILSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.counts = torch.zeros(stream.classes, dtype=torch.float64, device=self.device)
        self.sums = torch.zeros(stream.classes, self._frozen_width, dtype=torch.float64, device=self.device)

    def _take(self, x: Tensor, y: Tensor) -> None:
        self.sums.index_add_(0, y, self._frozen(x))
        self.counts += torch.bincount(y, minlength=self.stream.classes)

    def _scores(self, x: Tensor) -> Tensor:
        return functional.normalize(self._frozen(x), dim=1) @ functional.normalize(self.sums, dim=1).T

    @property
    def _counts(self) -> Tensor:
        return self.counts

    def _state(self) -> State:
        return {**super()._state(), "counts": self.counts.clone(), "sums": self.sums.clone()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.counts, self.sums = state["counts"].clone(), state["sums"].clone()

    def _widened(self, state: State, narrow: Self) -> State:
        wide = {"counts": grown(state["counts"], self.counts), "sums": grown(state["sums"], self.sums)}
        return {**super()._widened(state, narrow), **wide}

    def stored_bytes(self) -> dict[str, int]:
        """The prototypes, and the network if features are learned."""
        return {**super().stored_bytes(), "prototypes": 8 * (self.sums.numel() + self.counts.numel())}
