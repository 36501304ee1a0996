"""`er-la`: replay that does not favour a class for being frequent."""

import torch
from torch import Tensor

from er_la import LogitAdjustedSettings
from merlin_cl.learners import ReplayLearner


class LogitAdjusted(ReplayLearner[LogitAdjustedSettings]):
    """Logit-adjusted softmax (Menon et al. 2021) on a batch of arriving examples and exemplars.

    While it learns, the logit of a class is raised by the logarithm of the class's share of the batch, so that a frequent class
    has to win by more; the logits that answer are left alone.
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        x, y = self.with_replay(x, y)
        counts = torch.bincount(y, minlength=self.stream.classes) + 1  # a class that the batch lacks counts for one
        shift = self.settings.strength * (counts / counts.sum()).log()
        self.descend(self.cross_entropy(self.forward(x) + shift, y))
