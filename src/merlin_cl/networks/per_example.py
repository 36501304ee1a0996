"""Gradients of single examples, without a backward pass for each.

In a layer h W + b the gradient of an example is the outer product of the layer's input h and the gradient d by its output.
So for an MLP neither squares nor inner products of gradients need the gradients themselves: (h d')^2 = h^2 (d^2)', and
<h d', k e'> = <h, k> <d, e>. For other networks, one network taken as often as there are examples is a bank, each member with
its own example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.network import Network

Loss = Callable[[Tensor, Tensor], Tensor]
"""The losses [N] of logits [N, classes] with labels [N]."""
BLOCK = 20
"""Examples whose whole gradients are computed at once."""


class ExampleGradients(ABC):
    """The gradients g_n, n = 1..N, of the losses of single examples, in evaluation."""

    @abstractmethod
    def weighted_squares(self, weights: Tensor) -> Tensor:
        """sum_n w_n g_n^2, [P], for weights w [N]. Statistics have gradient zero: none trains them."""

    @abstractmethod
    def products(self, other: ExampleGradients) -> Tensor:
        """Inner products [N, N'] with the gradients of other examples of the same network."""

    @abstractmethod
    def lengths(self) -> Tensor:
        """[N]."""

    def cosines(self, other: ExampleGradients) -> Tensor:
        """Cosines [N, N'] with the gradients of other examples of the same network."""
        scale = self.lengths().clamp(min=1e-12)[:, None] * other.lengths().clamp(min=1e-12)
        return self.products(other) / scale


def example_gradients(network: Network, row: Tensor, x: Tensor, y: Tensor, loss: Loss) -> ExampleGradients:
    """Of the network with weights `row` [P], for inputs x [N, *input_shape] with labels y [N]."""
    kind = _Factors if isinstance(network, MLP) else _Whole
    return kind(network, row, x, y, loss)


class _Factors(ExampleGradients):
    """Of an MLP: for each layer its inputs [N, in] and the gradients [N, out] by its outputs."""

    def __init__(self, network: Network, row: Tensor, x: Tensor, y: Tensor, loss: Loss) -> None:
        self._network = network
        views = [view[0] for view in network.views(row.detach().unsqueeze(0)).values()]
        matrices, biases = views[::2], views[1::2]
        self._inputs: list[Tensor] = []
        with torch.no_grad():
            h = x.flatten(1)
            for matrix, bias in zip(matrices, biases, strict=True):
                self._inputs.append(h.relu_() if self._inputs else h)
                h = torch.addmm(bias, self._inputs[-1], matrix)
        logits = h.requires_grad_()
        self._deltas = list(torch.autograd.grad(loss(logits, y).sum(), logits))
        for h, matrix in zip(self._inputs[:0:-1], matrices[:0:-1], strict=True):
            through = torch.ops.aten.threshold_backward(self._deltas[0] @ matrix.T, h, 0)
            self._deltas.insert(0, through)

    def weighted_squares(self, weights: Tensor) -> Tensor:
        parts = []
        for h, d in zip(self._inputs, self._deltas, strict=True):
            squares = weights[:, None] * d.square()
            parts += [(h.square().T @ squares).flatten(), squares.sum(dim=0)]
        return torch.cat(parts)

    def products(self, other: ExampleGradients) -> Tensor:
        assert isinstance(other, _Factors)
        layers = zip(self._inputs, self._deltas, other._inputs, other._deltas, strict=True)
        return torch.stack([(h @ k.T + 1) * (d @ e.T) for h, d, k, e in layers]).sum(dim=0)

    def lengths(self) -> Tensor:
        layers = zip(self._inputs, self._deltas, strict=True)
        squares = [(h.square().sum(dim=1) + 1) * d.square().sum(dim=1) for h, d in layers]
        return torch.stack(squares).sum(dim=0).sqrt()


class _Whole(ExampleGradients):
    """Of any network: computed a block at a time, and held only where they are needed together."""

    def __init__(self, network: Network, row: Tensor, x: Tensor, y: Tensor, loss: Loss) -> None:
        self._network, self._row, self._loss = network, row.detach(), loss
        self._blocks = list(zip(x.split(BLOCK), y.split(BLOCK), strict=True))
        self._held: Tensor | None = None  # [N, P]

    def weighted_squares(self, weights: Tensor) -> Tensor:
        total = torch.zeros_like(self._row)
        for (x, y), share in zip(self._blocks, weights.split(BLOCK), strict=True):
            total += share @ self._gradients(x, y).square_()
        return total

    def products(self, other: ExampleGradients) -> Tensor:
        assert isinstance(other, _Whole)
        return self._all() @ other._all().T

    def lengths(self) -> Tensor:
        return self._all().square().sum(dim=1).sqrt()

    def _all(self) -> Tensor:
        if self._held is None:
            self._held = torch.cat([self._gradients(x, y) for x, y in self._blocks])
        return self._held

    def _gradients(self, x: Tensor, y: Tensor) -> Tensor:
        """[n, P]"""
        copies = self._row.repeat(len(x), 1).requires_grad_()  # [n, P]
        logits = self._network.apply(copies, x.unsqueeze(1))[:, 0]  # [n, classes]
        (gradients,) = torch.autograd.grad(self._loss(logits, y).sum(), copies)
        gradients[:, self._network.learned :] = 0
        return gradients
