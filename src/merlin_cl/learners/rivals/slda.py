"""`slda`: streaming linear discriminant analysis on fixed features."""

import math
from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.class_statistics import ClassStatistics
from merlin_cl.learners.rivals.frozen_features import FrozenFeatureLearner
from merlin_cl.learners.rivals.slda_settings import SLDASettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State


class SLDA(FrozenFeatureLearner[SLDASettings]):
    """Deep streaming linear discriminant analysis (Hayes and Kanan 2020, "Lifelong machine learning with deep SLDA").

    A mean for each class, one covariance within classes, and the discriminant that follows from them; shrinkage 1e-4 is theirs.
    Features must not change: they are a random layer, the inputs, or (`learned`) those of the classifier after the first task,
    of which a reservoir is kept until then. Deviations: theirs are a ResNet trained on half of ImageNet; the covariance is the
    pooled one exactly, where theirs weighs an example by the number of all seen rather than of its class.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'slda', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '84 %'
    """

    def __init__(self, stream: StreamInfo, settings: SLDASettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        inputs = math.prod(stream.input_shape)
        if settings.features == "random":
            self._layer = torch.randn(inputs + 1, settings.width, generator=self.generator("layer")).to(self.device)
            self._layer /= math.sqrt(inputs)
        width = settings.width if settings.features == "random" else self._frozen_width
        self.statistics = ClassStatistics(stream.classes, width, self.device)

    def _features(self, x: Tensor) -> Tensor:
        """[N, width], in double precision."""
        if self.settings.features != "random":
            return self._frozen(x)
        ones = torch.ones(len(x), 1, device=x.device)
        return (torch.cat([x.flatten(1), ones], dim=1) @ self._layer).relu().double()

    def _take(self, x: Tensor, y: Tensor) -> None:
        self.statistics.take(self._features(x), y)

    def _scores(self, x: Tensor) -> Tensor:
        return self.statistics.discriminants(self._features(x), self.settings.shrinkage)

    @property
    def _counts(self) -> Tensor:
        return self.statistics.counts

    def _state(self) -> State:
        return {**super()._state(), **self.statistics.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.statistics.restore(state)

    def _widened(self, state: State, narrow: Self) -> State:
        return {**super()._widened(state, narrow), **self.statistics.widened(state)}

    def stored_bytes(self) -> dict[str, int]:
        """Means and covariance; with learned features the network, too (a random layer follows from the seed)."""
        return {**super().stored_bytes(), "statistics": self.statistics.stored_bytes}
