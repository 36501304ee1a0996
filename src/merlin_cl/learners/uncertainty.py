"""How sure an ensemble is, and whether more data could make it surer: the entropy of its answers, taken apart."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor


class Members(NamedTuple):
    """What an answer is made of: M distributions over classes and the weight of each for every input.

    They are one ensemble, or several in a row, such as one a task, `sizes` members each.
    """

    probabilities: Tensor  # [M, N, classes]
    weights: Tensor  # [N, M], 1 in all for every input
    sizes: tuple[int, ...] | None = None


class Uncertainty(NamedTuple):
    """Of N answers, in nats: `total` is the sum of the other two."""

    total: Tensor
    """The entropy of the members' mixture, which is the answer where one ensemble agrees by `mean-probability`. Of several
    ensembles, the mean of theirs."""
    aleatoric: Tensor
    """The entropy that the members have on average: what they agree cannot be known of the input."""
    epistemic: Tensor
    """What they disagree on, the mutual information of answer and member: more data of this kind would lessen it."""

    @classmethod
    def of(cls, members: Members) -> "Uncertainty":
        """The parts for every input, [N] each.

        Members of several ensembles have other weights for every input, as those of all tasks have. They disagree within their
        ensemble only: that models of one task know an input and those of another do not is no want of knowledge.
        """
        # In double precision: members that nearly agree leave a difference far smaller than the entropies' own rounding.
        weights, probabilities = members.weights.double(), members.probabilities.double()
        sizes = members.sizes or (len(probabilities),)
        total = torch.stack(
            [
                _mixture_entropy(*ensemble)
                for ensemble in zip(weights.split(sizes, dim=1), probabilities.split(sizes), strict=True)
            ]
        ).sum(dim=0)
        aleatoric = (weights * entropy(probabilities).t()).sum(dim=1)
        # The difference is never negative, but for rounding.
        aleatoric = torch.minimum(aleatoric, total)
        dtype = members.probabilities.dtype
        return cls(total.to(dtype), aleatoric.to(dtype), (total - aleatoric).to(dtype))

    @classmethod
    def joined(cls, blocks: Iterable["Uncertainty"]) -> "Uncertainty":
        """Those of several blocks of inputs as one."""
        return cls(*(torch.cat(parts) for parts in zip(*blocks, strict=True)))


def entropy(probabilities: Tensor) -> Tensor:
    """In nats, over the last dimension; never negative, though a probability may be a little more than 1 by rounding."""
    return -torch.xlogy(probabilities, probabilities).sum(dim=-1).clamp(max=0)


def _mixture_entropy(weights: Tensor, probabilities: Tensor) -> Tensor:
    """The entropy of what an ensemble says together, times its weight, [N]; weights [N, M], probabilities [M, N, classes]."""
    weight = weights.sum(dim=1)
    mixture = torch.einsum("nm,mnc->nc", weights / weight.clamp(min=1e-300).unsqueeze(1), probabilities)
    return weight * entropy(mixture)
