"""`mir`: replay of the exemplars that the arriving batch would harm most."""

import torch
from torch import Tensor

from merlin_cl.learners.network_learner import cross_entropy
from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.mir_settings import MIRSettings
from merlin_cl.tensors import rows


class MIR(ReplayLearner[MIRSettings]):
    """Maximally interfered retrieval (Aljundi et al. 2019, "Online continual learning with maximally interfered retrieval").

    Of `candidates` exemplars those are replayed whose loss an update on the arriving batch alone would raise most. 50
    candidates, 10 of them replayed, and batches of 10 are theirs. Deviation: the foreseen update is one of Adam, as the
    real one is, rather than of plain descent.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'mir', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '57 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        old_x, old_y = self.exemplars_at(self.drawn(self.settings.candidates))
        if len(old_y) > self.settings.replay:
            chosen = self._interference(x, y, old_x, old_y).topk(self.settings.replay).indices
            old_x, old_y = rows(old_x, chosen), old_y[chosen]
        self.learn(torch.cat([x, old_x]), torch.cat([y, old_y]))

    def _interference(self, x: Tensor, y: Tensor, old_x: Tensor, old_y: Tensor) -> Tensor:
        """How much an update on x, y alone would raise the loss of each exemplar, [n]."""
        before = cross_entropy(self.bank.logits(old_x)[0], old_y, self.competing)
        foreseen = self.training.foreseen(x, y, self.competing)
        after = cross_entropy(foreseen.logits(old_x)[0], old_y, self.competing)
        return after - before
