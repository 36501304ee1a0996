"""How an ensemble's members agree on an answer."""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.ensemble_settings import Vote
from merlin_cl.networks.bank import MASKED


def vote(members: Tensor, allowed: Tensor, how: Vote) -> Tensor:
    """Scores [V, N, classes] from the members' logits [M, N, classes], for V sets of allowed classes, bool [V, classes].

    Members choose among the allowed classes only, and softmax of the scores is what they say together: for `majority` the
    share of members that prefer a class, the mean probability deciding between equals; for `mean-probability` that mean; for
    `sum-logits` the normalised geometric mean; for `agreement` the mean in which each member counts as much as it agrees with
    the others.
    """
    masked = members.unsqueeze(0).masked_fill(~allowed[:, None, None, :], MASKED)  # [V, M, N, classes]
    if how == "sum-logits":
        scores = masked.mean(dim=1)
    else:
        each = masked.softmax(dim=-1)  # [V, M, N, classes]
        probability = _agreed(each) if how == "agreement" else each.mean(dim=1)  # [V, N, classes]
        if how == "majority":
            ballots = functional.one_hot(masked.argmax(dim=-1), masked.shape[-1]).float()  # [V, M, N, classes]
            # A mean probability is at most 1: counting as half a vote in all, it cannot outweigh one.
            probability = (ballots.sum(dim=1) + probability / 2) / (len(members) + 0.5)
        scores = probability.clamp(min=1e-30).log()
    return scores.masked_fill(~allowed[:, None, :], MASKED)


def _agreed(probabilities: Tensor) -> Tensor:
    """The mean over members, dim 1 of [V, M, N, classes], each weighted input by input by its overlap with the others' mean.

    The overlap of two distributions is the sum of the lesser probabilities: 1 where they are the same, 0 where they exclude
    each other. Members that all exclude each other, or one alone, count alike.
    """
    members = probabilities.shape[1]
    # Summed one by one: of a total less a member's own, which may be all but a millionth, rounding would leave little.
    apart = 1 - torch.eye(members, dtype=probabilities.dtype, device=probabilities.device)
    others = torch.einsum("mo,vonc->vmnc", apart, probabilities) / max(members - 1, 1)
    weights = probabilities.minimum(others).sum(dim=-1, keepdim=True).clamp(min=1e-6)  # [V, M, N, 1]
    return (weights * probabilities).sum(dim=1) / weights.sum(dim=1)
