"""`agem`: no step against the average gradient of the memory."""

import torch
from torch import Tensor

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.agem_settings import AGEMSettings


class AGEM(ReplayLearner[AGEMSettings]):
    """Averaged gradient episodic memory (Chaudhry et al. 2019, "Efficient lifelong learning with A-GEM").

    Where the gradient points against that of a sample of earlier tasks' exemplars, it is projected to be orthogonal to it.
    Samples of up to 256, plain descent and its rate of 0.1 are theirs on MNIST. Deviations: the exemplars are a balanced
    reservoir of the stream rather than a fixed number a task; one head whose unseen classes are masked.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'agem', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '66 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        earlier = (self.memory.tasks < self.tasks[-1].index).nonzero().flatten()
        sizes = [len(y)]
        if len(earlier):
            old_x, old_y = self.exemplars_at(self.drawn(self.settings.replay, earlier))
            x, y, sizes = torch.cat([x, old_x]), torch.cat([y, old_y]), [len(y), len(old_y)]
        gradient, *references = self.gradients_of(x, y, sizes)
        for reference in references:
            gradient.add_(reference, alpha=multiplier(float(gradient @ reference), float(reference @ reference)))
        self.training.update(gradient.unsqueeze(0))


def multiplier(product: float, square: float) -> float:
    """How much of the reference r has to be added to the gradient g so that the sum does not point against r.

    `product` is <r, g>, `square` <r, r>; the vector nearest to g that will do is g - product / square * r.
    """
    return 0.0 if product >= 0 else -product / square
