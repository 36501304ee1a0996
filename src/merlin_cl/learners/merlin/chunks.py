"""How a model's weights become what the VAE sees: offsets from a shared start, cut into chunks, and back."""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.merlin.settings import Layout, Summary
from merlin_cl.networks.network import Network

TOGETHER = 0.5
"""Mean cosine of offsets above which models count as having moved in one direction."""


class ChunkCode:
    """psi [M, P] to chunks [M, K, size] and back.

    With statistics left out, those of `origin` take their place in `join`; all else comes back exactly, up to rounding.
    """

    def __init__(self, network: Network, size: int, layout: Layout, statistics: bool, origin: Tensor) -> None:
        self.size = size
        self._origin = origin  # psi_0, [P]: what the weights are offsets from
        order = network.torch_order() if layout == "out-in" else torch.arange(network.size)
        if not statistics:
            order = order[order < network.learned]
        self._order = order.to(origin.device)  # the place in psi of every number in the chunks
        self.count = -(-len(order) // size)  # K

    def cut(self, psi: Tensor) -> Tensor:
        """Chunks of the offsets; the last one is padded with zeros."""
        offsets = (psi - self._origin)[:, self._order]
        padding = self.count * self.size - offsets.shape[1]
        return functional.pad(offsets, (0, padding)).view(len(psi), self.count, self.size)

    def join(self, chunks: Tensor) -> Tensor:
        """Models from chunks."""
        offsets = chunks.flatten(1)[:, : len(self._order)]
        return self._origin.expand(len(chunks), -1).index_add(1, self._order, offsets)


def representatives(models: Tensor, summary: Summary) -> Tensor:
    """Those of models [B, ...] whose mean stands for all: the most central one, or (`mean`) all, unless they went different ways.

    Networks that start at one point and learn one task move along together, but only partly. The mean of ten MLPs on Permuted
    MNIST is half a point worse than they are, on late tasks five. That of two ResNets on the first task of Split CIFAR-10 (mean
    cosine 0.3) loses three points.
    """
    directions = functional.normalize(models.flatten(1), dim=1)
    closeness = (directions @ directions.t()).sum(dim=1).sub(1) / max(
        1, len(models) - 1
    )  # [B], mean cosine with the others
    if summary == "mean" and (len(models) == 1 or closeness.mean() > TOGETHER):
        return models
    return models[closeness.argmax()].unsqueeze(0)
