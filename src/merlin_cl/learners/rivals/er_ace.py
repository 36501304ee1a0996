"""`er-ace`: replay in which arriving classes do not push old ones aside."""

import torch
from torch import Tensor

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.er_ace_settings import ERACESettings


class ERACE(ReplayLearner[ERACESettings]):
    """ER with asymmetric cross-entropy (Caccia et al. 2022, "New insights on reducing abrupt representation change").

    Arriving examples choose among the classes of their own batch only, exemplars among all classes seen; the two losses
    are added. Batches of 10 and 10 as there. Deviation: Adam rather than plain descent.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'er-ace', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '89 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        present = self._allowed([y.tolist()])[0]
        old_x, old_y = self.replayed()
        logits, old_logits = self.forward(torch.cat([x, old_x])).split([len(x), len(old_x)])
        self.descend(self.cross_entropy(logits, y, present) + self.cross_entropy(old_logits, old_y))
