"""`scr`: contrastive replay, answered by the nearest mean of exemplars."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.nearest_mean import class_means, nearest_mean, unit_features
from merlin_cl.learners.rivals.scr_settings import SCRSettings
from merlin_cl.protocol import Inference
from merlin_cl.tensors import as_float


class SCR(ReplayLearner[SCRSettings]):
    """Supervised contrastive replay (Mai et al. 2021).

    Arriving examples, exemplars and a second view of each are drawn together by class and apart otherwise (the supervised
    contrastive loss of Khosla et al. 2020, on a projection); an answer is the class whose exemplars' mean feature is nearest.
    100 exemplars a batch, temperature 0.07 and a projection of 128 are theirs. Deviations: the projection is linear; the
    second view is a shift by a few pixels (and whatever `augmentation` says), as crops and colours would not suit digits, and an
    input that is not an image is its own second view; Adam rather than plain descent.

    Two tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'scr', tasks=2, images_per_task=100).final_accuracy:.0f} %"
    '97 %'
    """

    gives_probabilities: ClassVar[bool] = (
        False  # a distance from a mean is no likelihood: nothing says how steeply it falls
    )

    def _update(self, x: Tensor, y: Tensor) -> None:
        x, y = self.with_replay(x, y)
        views, labels = torch.cat([x, self.augmented(self._shifted(x))]), torch.cat([y, y])
        self.descend(contrastive(self.forward(views), labels, self.settings.temperature))

    def _shifted(self, x: Tensor) -> Tensor:
        """Every image moved by its own few pixels, zeros coming in."""
        shift = self.settings.shift
        if x.dim() != 4 or shift == 0:
            return x
        height, width = x.shape[2:]
        padded = functional.pad(x, [shift] * 4).flatten(2)  # [N, channels, padded height * padded width]
        down, right = torch.randint(0, 2 * shift + 1, (2, len(x), 1), generator=self.draws).to(x.device)
        lines = (down + torch.arange(height, device=x.device)) * (width + 2 * shift)  # [N, height]
        columns = right + torch.arange(width, device=x.device)  # [N, width]
        places = (lines[:, :, None] + columns[:, None, :]).flatten(1)  # [N, height * width]
        return padded.gather(2, places.unsqueeze(1).expand(-1, x.shape[1], -1)).view_as(x)

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        exemplars = unit_features(self.bank, as_float(self.memory.x.to(self.device)))
        means, known = class_means(exemplars, self.memory.y.to(self.device), self.stream.classes)
        return nearest_mean(unit_features(self.bank, as_float(x)), means, known, allowed)


def contrastive(projected: Tensor, y: Tensor, temperature: float) -> Tensor:
    """The supervised contrastive loss of projections [n, d] with labels y [n].

    For each one: minus the mean, over all others of its class, of the logarithm of the share that their similarity has
    among the similarities to all others. One that is alone in its class takes no part.
    """
    unit = functional.normalize(projected, dim=1)
    same = torch.eye(len(y), dtype=torch.bool, device=y.device)
    logits = (unit @ unit.T / temperature).masked_fill(same, -torch.inf)
    shares = logits.log_softmax(dim=1).masked_fill(same, 0)  # [n, n]
    positive = (y[:, None] == y[None, :]) & ~same
    count = positive.sum(dim=1)
    means = (shares * positive).sum(dim=1) / count.clamp(min=1)
    return -means.sum() / (count > 0).sum().clamp(min=1)
