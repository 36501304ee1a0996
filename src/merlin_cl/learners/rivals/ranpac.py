"""`ranpac`: a random projection with ReLU, and ridge regression from it to the classes. No exemplars."""

import math
from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.class_statistics import grown
from merlin_cl.learners.rivals.frozen_features import FrozenFeatureLearner
from merlin_cl.learners.rivals.ranpac_settings import RanPACSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State

RIDGES = 10.0 ** torch.arange(-8, 9, dtype=torch.float64)
"""Of which the best on held-back examples is taken: theirs."""
EVERY = 5
"""One in so many examples is held back to choose the ridge: a fifth, as theirs."""
SOFTNESS = 10.0
"""Scores lie about 0 and 1; times this, their softmax is a probability of sorts."""


class RanPAC(FrozenFeatureLearner[RanPACSettings]):
    """Random projections and pre-trained models (McDonnell et al. 2023, "RanPAC: random projections and pre-trained models
    for continual learning").

    Features h = ReLU(x W), W normal and fixed, are summed up in G = sum h h' and Q = sum h y', y one-hot; (G + r I)^-1 Q
    takes features to scores. The ridge r is that of 17 powers of ten with the least squared error on a fifth of the newest
    task, fitted to the other four.

    The held-back fifth needs no examples either: its squared error follows from its own G and Q. Deviations: theirs are
    features of a vision transformer, adapted in the first task, and 10,000 of h; ours are the inputs (or learned features)
    scaled by the root of their number, and fewer of h; which examples are held back goes by the order in which they come.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'ranpac', tasks=2, images_per_task=50, settings={'width': 500}).final_accuracy:.0f} %"
    '92 %'
    """

    def __init__(self, stream: StreamInfo, settings: RanPACSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        draws = torch.randn(
            self._frozen_width + 1, settings.width, dtype=torch.float64, generator=self.generator("layer")
        )
        self._layer = draws.to(self.device) / math.sqrt(self._frozen_width)
        self.counts = torch.zeros(stream.classes, dtype=torch.float64, device=self.device)
        self.gram = self._no_gram()  # G, of all examples
        self.targets = self._no_targets()  # Q as [classes, width]
        self._earlier_gram, self._earlier_targets = self._no_gram(), self._no_targets()  # before the newest task
        self._held_gram, self._held_targets = self._no_gram(), self._no_targets()  # of its fifth that is held back
        self._passed = 0  # examples of the newest task
        self.ridge = 1.0
        self._weights: Tensor | None = None  # [width, classes], made when asked for

    def _no_gram(self) -> Tensor:
        return torch.zeros(self.settings.width, self.settings.width, dtype=torch.float64, device=self.device)

    def _no_targets(self) -> Tensor:
        return torch.zeros(self.stream.classes, self.settings.width, dtype=torch.float64, device=self.device)

    def _features(self, x: Tensor) -> Tensor:
        """h, [N, width]."""
        frozen = self._frozen(x)
        return (torch.cat([frozen, torch.ones_like(frozen[:, :1])], dim=1) @ self._layer).relu()

    def _take(self, x: Tensor, y: Tensor) -> None:
        features = self._features(x)
        held = (torch.arange(len(y), device=y.device) + self._passed) % EVERY == EVERY - 1
        add(features, y, self.gram, self.targets)
        add(features[held], y[held], self._held_gram, self._held_targets)
        self.counts += torch.bincount(y, minlength=self.stream.classes)
        self._passed += len(y)
        self._weights = None

    def _end(self) -> None:
        super()._end()
        with self.phases.timed("consolidate"):
            if self._passed >= EVERY:
                self.ridge = best_ridge(
                    self.gram - self._earlier_gram - self._held_gram,
                    self.targets - self._earlier_targets - self._held_targets,
                    self._held_gram,
                    self._held_targets,
                )
            self._earlier_gram.copy_(self.gram)
            self._earlier_targets.copy_(self.targets)
            self._held_gram.zero_()
            self._held_targets.zero_()
            self._passed, self._weights = 0, None

    def _scores(self, x: Tensor) -> Tensor:
        if self._weights is None:
            with self.phases.timed("infer"):
                self._weights = ridge_weights(self.gram, self.targets, self.ridge)
        return SOFTNESS * self._features(x) @ self._weights

    @property
    def _counts(self) -> Tensor:
        return self.counts

    def _state(self) -> State:
        kept = {"counts": self.counts, "gram": self.gram, "targets": self.targets}
        if self.learning:
            kept |= {"earlier_gram": self._earlier_gram, "earlier_targets": self._earlier_targets}
            kept |= {"held_gram": self._held_gram, "held_targets": self._held_targets}
        copies = {name: value.clone() for name, value in kept.items()}
        return {**super()._state(), **copies, "passed": self._passed, "ridge": self.ridge}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.counts, self.gram, self.targets = (state[name].clone() for name in ("counts", "gram", "targets"))
        self._earlier_gram = state.get("earlier_gram", self.gram).clone()
        self._earlier_targets = state.get("earlier_targets", self.targets).clone()
        self._held_gram = state["held_gram"].clone() if "held_gram" in state else self._no_gram()
        self._held_targets = state["held_targets"].clone() if "held_targets" in state else self._no_targets()
        self._passed, self.ridge, self._weights = int(state["passed"]), float(state["ridge"]), None

    def _widened(self, state: State, narrow: Self) -> State:
        wide = {"counts": grown(state["counts"], self.counts)}
        names = ("targets", "earlier_targets", "held_targets")
        wide |= {name: grown(state[name], self._no_targets()) for name in names if name in state}
        return {**super()._widened(state, narrow), **wide}

    def stored_bytes(self) -> dict[str, int]:
        """G and Q, within a task two more of each, and the network of learned features; the projection follows from the seed."""
        sums_kept = 8 * (self.gram.numel() + self.targets.numel())
        return {
            **super().stored_bytes(),
            "statistics": sums_kept + 8 * self.counts.numel(),
            "newest_task": 2 * sums_kept if self.learning else 0,
        }


def add(features: Tensor, y: Tensor, gram: Tensor, targets: Tensor) -> None:
    """Add features [N, width] with labels y [N] to G [width, width] and to Q, as [classes, width]."""
    gram.addmm_(features.T, features)
    targets.index_add_(0, y, features)


def ridge_weights(gram: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """(G + r I)^-1 Q, [width, classes]."""
    weights: Tensor = torch.linalg.solve(gram + ridge * torch.eye(len(gram)).to(gram), targets.T)
    return weights


def best_ridge(gram: Tensor, targets: Tensor, held_gram: Tensor, held_targets: Tensor) -> float:
    """The ridge whose weights, fitted to G and Q, have the least squared error on held-back examples with their own G and Q.

    With weights W that error is, but for a constant, tr(W' G_h W) - 2 tr(W' Q_h). One decomposition of G serves all ridges.
    """
    values, vectors = torch.linalg.eigh(gram)
    turned, held, aims = vectors.T @ targets.T, vectors.T @ held_gram @ vectors, vectors.T @ held_targets.T
    errors = []
    for ridge in RIDGES.tolist():
        weights = turned / (values.clamp(min=0) + ridge).unsqueeze(1)  # [width, classes], in the turned space
        errors.append(float((weights * (held @ weights - 2 * aims)).sum()))
    return float(RIDGES[int(torch.tensor(errors).nan_to_num(nan=torch.inf).argmin())])
