"""The nearest-mean-of-exemplars classifier: answers by features alone, whatever the last layer says."""

import torch
from torch import Tensor

from merlin_cl.networks.bank import Bank
from merlin_cl.tensors import MASKED


@torch.inference_mode()
def unit_features(bank: Bank, x: Tensor) -> Tensor:
    """Features [n, d], scaled to length one, of inputs x [n, *input_shape] by the one network of a bank."""
    parts = [
        bank.network.features(bank.weights, part.unsqueeze(0))[0] for part in x.split(bank.network.examples_at_once)
    ]
    return torch.nn.functional.normalize(torch.cat(parts), dim=1)


def class_means(features: Tensor, y: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Means [classes, d], scaled to length one, of features [n, d] with labels y, and which classes have one."""
    sums = torch.zeros(classes, features.shape[1], device=features.device).index_add_(0, y, features)
    return torch.nn.functional.normalize(sums, dim=1), torch.bincount(y, minlength=classes) > 0


def nearest_mean(features: Tensor, means: Tensor, known: Tensor, allowed: Tensor) -> Tensor:
    """Scores [V, N, classes]: minus the squared distance of features [N, d] from the means [classes, d].

    A class without a mean, not in `known`, comes last among the allowed ones, bool [V, classes].
    """
    scores = -torch.cdist(features, means).square()  # at least -4: both have length one
    scores = scores.masked_fill(~known, -10.0)
    return torch.where(allowed[:, None, :], scores, MASKED)
