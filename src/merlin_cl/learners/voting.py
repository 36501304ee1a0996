"""How an ensemble's members agree on an answer."""

from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.ensemble_settings import Vote
from merlin_cl.networks.bank import MASKED


def as_probabilities(scores: Tensor, how: Vote | None) -> Tensor:
    """Probabilities [N, classes] from scores: the shares of votes of a `majority`, what softmax makes of all others."""
    if how != "majority":
        return scores.softmax(dim=-1)
    shares = scores.clamp(min=0)
    return shares / shares.sum(dim=-1, keepdim=True)


def vote(members: Tensor, allowed: Tensor, how: Vote) -> Tensor:
    """Scores [V, N, classes] from the members' logits [M, N, classes], for V sets of allowed classes, bool [V, classes].

    Members choose among the allowed classes only. `majority` scores a class by the share of members that prefer it, the
    mean probability deciding between equals; `mean-probability` by its logarithm; `sum-logits` by the mean logit.
    """
    masked = members.unsqueeze(0).masked_fill(~allowed[:, None, None, :], MASKED)  # [V, M, N, classes]
    if how == "sum-logits":
        scores = masked.mean(dim=1)
    else:
        probability = masked.softmax(dim=-1).mean(dim=1)  # [V, N, classes]
        if how == "majority":
            ballots = functional.one_hot(masked.argmax(dim=-1), masked.shape[-1]).float()  # [V, M, N, classes]
            # A mean probability is at most 1: divided by 2 M it cannot outweigh one vote.
            scores = ballots.mean(dim=1) + probability / (2 * len(members))
        else:
            scores = probability.clamp(min=1e-30).log()
    return scores.masked_fill(~allowed[:, None, :], MASKED)
