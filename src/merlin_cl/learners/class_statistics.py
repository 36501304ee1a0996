"""Class means and the one covariance within classes, updated exactly as examples pass, and the discriminant that follows."""

import math

import torch
from torch import Tensor

from merlin_cl.tensors import State


class ClassStatistics:
    """Sums over all examples so far; nothing depends on their order or on how they came in batches."""

    def __init__(self, classes: int, width: int, device: torch.device) -> None:
        self.counts = torch.zeros(classes, dtype=torch.float64, device=device)
        self.means = torch.zeros(classes, width, dtype=torch.float64, device=device)
        self.scatter = torch.zeros(width, width, dtype=torch.float64, device=device)  # within classes, summed over them
        self._directions: dict[float, Tensor] = {}  # [width, classes], by shrinkage, until more is taken

    def take(self, features: Tensor, y: Tensor) -> None:
        """Add examples: features [N, width], labels [N]."""
        rows = []  # whose outer products the scatter grows by: one product for all, as it is larger than any batch
        for label in y.unique().tolist():
            own = features[y == label]
            mean, held, new = own.mean(dim=0), float(self.counts[label]), len(own)
            step = mean - self.means[label]
            rows += [own - mean, math.sqrt(held * new / (held + new)) * step.unsqueeze(0)]
            self.means[label] += new / (held + new) * step
            self.counts[label] += new
        self._directions.clear()
        all_rows = torch.cat(rows)
        self.scatter.addmm_(all_rows.T, all_rows)

    def discriminants(self, features: Tensor, shrinkage: float) -> Tensor:
        """Scores [N, classes] of features [N, width]: their log-likelihoods, but for what all classes share.

        The covariance is the pooled one with a share of the identity.
        """
        if shrinkage not in self._directions:
            identity = torch.eye(len(self.scatter)).to(self.scatter)
            covariance = (1 - shrinkage) * self.scatter / self.counts.sum() + shrinkage * identity
            self._directions = {shrinkage: torch.linalg.solve(covariance, self.means.T)}
        directions = self._directions[shrinkage]
        return features @ directions - (self.means.T * directions).sum(dim=0) / 2

    def state(self) -> State:
        """All of it."""
        return {"counts": self.counts.clone(), "means": self.means.clone(), "scatter": self.scatter.clone()}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self._directions.clear()
        self.counts, self.means, self.scatter = (state[name].clone() for name in ("counts", "means", "scatter"))

    def widened(self, state: State) -> State:
        """The state of statistics of fewer classes, for these, which are empty."""
        return {"counts": grown(state["counts"], self.counts), "means": grown(state["means"], self.means)}

    @property
    def stored_bytes(self) -> int:
        """In double precision, as it is kept."""
        return 8 * (self.counts.numel() + self.means.numel() + self.scatter.numel())


def grown(kept: Tensor, empty: Tensor) -> Tensor:
    """What was kept of some classes, [classes, ...], as the first rows of a tensor for more classes."""
    wide = empty.clone()
    wide[: len(kept)] = kept
    return wide
