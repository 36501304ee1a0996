"""`slda`: streaming linear discriminant analysis on fixed features."""

import math
from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.exemplars import ExemplarMemory
from merlin_cl.learners.generative_settings import SLDASettings
from merlin_cl.learners.learner import MASKED, State, as_float
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.protocol import Inference, StreamInfo

UNKNOWN = 1e8
"""How far a class that was announced but has had no example scores below all others, at least."""


class SLDA(NetworkLearner[SLDASettings]):
    """Deep streaming linear discriminant analysis (Hayes and Kanan 2020, "Lifelong machine learning with deep SLDA").

    A mean for each class, one covariance within classes, and the discriminant that follows from them; shrinkage 1e-4 is theirs.
    Features must not change: they are a random layer, or (`learned`) those of the classifier after the first task, of which a
    reservoir is kept until then. Deviations: theirs are a ResNet trained on half of ImageNet; the covariance is the
    pooled one exactly, where theirs weighs an example by the number of all seen rather than of its class.
    """

    def __init__(self, stream: StreamInfo, settings: SLDASettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        inputs = math.prod(stream.input_shape)
        if settings.features == "random":
            self._layer = torch.randn(inputs + 1, settings.width, generator=self.generator("layer")).to(self.device)
            self._layer /= math.sqrt(inputs)
        width = settings.width if settings.features == "random" else self.network.shapes[self.network.head[0]][0]
        self.counts = torch.zeros(stream.classes, dtype=torch.float64, device=self.device)
        self.means = torch.zeros(stream.classes, width, dtype=torch.float64, device=self.device)
        self.scatter = torch.zeros(width, width, dtype=torch.float64, device=self.device)  # summed over classes
        self.memory = ExemplarMemory(settings.exemplars, "balanced", stream.input_shape, self.generator("exemplars"))

    @property
    def _learning_features(self) -> bool:
        return self.settings.features == "learned" and len(self.tasks) == 1 and self.learning

    def _update(self, x: Tensor, y: Tensor) -> None:
        self._training.step(x, y, self._competing)

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

    def _features(self, x: Tensor) -> Tensor:
        """[N, width], in double precision."""
        if self.settings.features == "random":
            ones = torch.ones(len(x), 1, device=x.device)
            return (torch.cat([x.flatten(1), ones], dim=1) @ self._layer).relu().double()
        with torch.inference_mode():
            return self.network.features(self._bank.weights, x.unsqueeze(0))[0].double()

    def _take(self, x: Tensor, y: Tensor) -> None:
        """Update means and scatter so that they are those of all examples so far."""
        features = self._features(x)
        for label in y.unique().tolist():
            own = features[y == label]
            mean, held, new = own.mean(dim=0), float(self.counts[label]), len(own)
            centred, step = own - mean, mean - self.means[label]
            self.scatter += centred.T @ centred + held * new / (held + new) * torch.outer(step, step)
            self.means[label] += new / (held + new) * step
            self.counts[label] += new

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        if self.counts.sum() == 0:
            return super()._answers(x, allowed, task, inference)
        shrinkage, identity = self.settings.shrinkage, torch.eye(len(self.scatter)).to(self.scatter)
        covariance = (1 - shrinkage) * self.scatter / self.counts.sum() + shrinkage * identity
        directions = torch.linalg.solve(covariance, self.means.T)  # [width, classes]
        scores = self._features(as_float(x)) @ directions - (self.means.T * directions).sum(dim=0) / 2
        lowest = scores[:, self.counts > 0].amin(dim=1, keepdim=True)
        scores = torch.where(self.counts > 0, scores, lowest - lowest.abs() - UNKNOWN).float()  # [N, classes]
        return torch.where(allowed[:, None, :], scores, MASKED)

    def _state(self) -> State:
        sums = {"counts": self.counts.clone(), "means": self.means.clone(), "scatter": self.scatter.clone()}
        return {**super()._state(), **sums, "memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.counts, self.means, self.scatter = (state[name].clone() for name in ("counts", "means", "scatter"))
        self.memory.restore(state["memory"])

    def _widened(self, state: State, narrow: Self) -> State:
        counts, means = self.counts.clone(), self.means.clone()
        counts[: len(state["counts"])], means[: len(state["means"])] = state["counts"], state["means"]
        return {**super()._widened(state, narrow), "counts": counts, "means": means}

    def stored_bytes(self) -> dict[str, int]:
        """Means and covariance; with learned features the network, too (a random layer follows from the seed)."""
        statistics = {"statistics": 8 * (self.counts.numel() + self.means.numel() + self.scatter.numel())}
        if self.settings.features == "random":
            return statistics
        return {"classifier": 4 * self.network.size, **statistics, "exemplars": self.memory.stored_bytes}
