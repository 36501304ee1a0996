"""`agem`: no step against the average gradient of the memory."""

from torch import Tensor

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rival_settings import AGEMSettings


class AGEM(ReplayLearner[AGEMSettings]):
    """Averaged gradient episodic memory (Chaudhry et al. 2019, "Efficient lifelong learning with A-GEM").

    Where the gradient points against that of a sample of earlier tasks' exemplars, it is projected to be orthogonal to it.
    Samples of up to 256, plain descent and its rate of 0.1 are theirs on MNIST. Deviations: the exemplars are a balanced
    reservoir of the stream rather than a fixed number a task; one head whose unseen classes are masked.
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        earlier = (self.memory.tasks < self.tasks[-1].index).nonzero().flatten()
        reference = None
        if len(earlier):
            old_x, old_y = self._exemplars_at(self._drawn(self.settings.replay, earlier))
            reference = self._gradient((old_x, self._cross_entropy(old_y))).clone()
        gradient = self._gradient((x, self._cross_entropy(y)))
        if reference is not None:
            gradient.copy_(projected(gradient, reference))
        self._training.update()


def projected(gradient: Tensor, reference: Tensor) -> Tensor:
    """The vector nearest to `gradient` [P] that does not point against `reference` [P]."""
    product = gradient @ reference
    return gradient if product >= 0 else gradient - product / (reference @ reference) * reference
