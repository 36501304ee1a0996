"""How sure an ensemble is, and whether more data could make it surer: the entropy of its answers, taken apart."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor


class Members(NamedTuple):
    """What an answer is made of: M distributions over classes and the weight of each for every input."""

    probabilities: Tensor  # [M, N, classes]
    weights: Tensor  # [N, M], 1 in all for every input


class Uncertainty(NamedTuple):
    """Of N answers, in nats: `total` is the sum of the other two."""

    total: Tensor
    """The entropy of the answer."""
    aleatoric: Tensor
    """The entropy that the members have on average: what they agree cannot be known of the input."""
    epistemic: Tensor
    """What they disagree on, the mutual information of answer and member: more data of this kind would lessen it."""

    @classmethod
    def of(cls, members: Members) -> "Uncertainty":
        """The parts for every input, [N] each."""
        mixture = torch.einsum("nm,mnc->nc", members.weights, members.probabilities)
        total = entropy(mixture)
        aleatoric = (members.weights * entropy(members.probabilities).t()).sum(dim=1)
        # The difference is never negative, but for rounding.
        aleatoric = torch.minimum(aleatoric, total)
        return cls(total, aleatoric, total - aleatoric)

    @classmethod
    def joined(cls, blocks: Iterable["Uncertainty"]) -> "Uncertainty":
        """Those of several blocks of inputs as one."""
        return cls(*(torch.cat(parts) for parts in zip(*blocks, strict=True)))


def entropy(probabilities: Tensor) -> Tensor:
    """In nats, over the last dimension; never negative, though a probability may be a little more than 1 by rounding."""
    return -torch.xlogy(probabilities, probabilities).sum(dim=-1).clamp(max=0)
