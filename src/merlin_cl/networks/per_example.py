"""Gradients of single examples, without a backward pass for each.

In a layer h W + b the gradient of an example is the outer product of the layer's input h and the gradient d by its output.
So for an MLP neither squares nor inner products of gradients need the gradients themselves: (h d')^2 = h^2 (d^2)', and
<h d', k e'> = <h, k> <d, e>. Other networks go forward once and back for as many slopes as are asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.network import Network
from merlin_cl.networks.residual_pass import ResidualPass
from merlin_cl.networks.resnet import ResNet

Loss = Callable[[Tensor, Tensor], Tensor]
"""The losses [N] of logits [N, classes] with labels [N]."""
BLOCK = 20
"""Pairs of an example and a slope whose whole gradients are computed at once."""


class EvaluationPass(Protocol):
    """A network's answers to some inputs, with the way back to its weights, which can be gone for many slopes."""

    logits: Tensor  # [N, classes]

    def gradients(self, slopes: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Of slopes [N, S, classes] by the logits, for each learned weight its name and gradients [N, S, *shape]."""


class ExampleGradients(ABC):
    """The gradients of the losses of single examples, in evaluation."""

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
    if isinstance(network, MLP):
        layers = _Layers(network, row, x)
        return _Factors(layers.inputs, layers.deltas(_slopes(loss, layers.logits, y)))
    rows = []
    for inputs, labels in zip(x.split(BLOCK), y.split(BLOCK), strict=True):
        done = evaluation_pass(network, row, inputs)
        slopes = _slopes(loss, done.logits, labels)
        gradients = row.new_zeros(len(labels), network.size)
        views = network.views(gradients)
        for name, gradient in done.gradients(slopes.unsqueeze(1)):
            views[name].copy_(gradient.squeeze(1))
        rows.append(gradients)
    return _Whole(torch.cat(rows))


def squared_gradients(network: Network, row: Tensor, x: Tensor, slopes: Tensor) -> Tensor:
    """The sum over n and s of g_ns^2, [P], for inputs x [N, *input_shape] and slopes [N, S, classes].

    g_ns is the gradient of slopes[n, s] times the logits of x[n]. Statistics have gradient zero: none trains them.
    """
    total = row.new_zeros(1, network.size)
    views = network.views(total)
    if isinstance(network, MLP):
        for inputs, some in zip(x.split(BLOCK), slopes.split(BLOCK), strict=True):
            layers = _Layers(network, row, inputs)
            for at, (h, d) in enumerate(zip(layers.inputs, layers.deltas(some), strict=True)):
                squares = d.square().sum(dim=1)  # [n, out]
                views[f"{at}.weight"][0].addmm_(h.square().T, squares)
                views[f"{at}.bias"][0].add_(squares.sum(dim=0))
        return total[0]
    together = max(1, BLOCK // slopes.shape[1])
    for inputs, some in zip(x.split(together), slopes.split(together), strict=True):
        done = evaluation_pass(network, row, inputs)
        for at_once in some.split(BLOCK, dim=1):
            for name, gradient in done.gradients(at_once):
                views[name][0].add_(gradient.square().sum(dim=(0, 1)))
    return total[0]


def evaluation_pass(network: Network, row: Tensor, x: Tensor) -> EvaluationPass:
    """The answers of a network that is no MLP, with weights `row` [P], to x [N, *input_shape]."""
    return ResidualPass(network, row, x) if isinstance(network, ResNet) else CopiedPass(network, row, x)


def _slopes(loss: Loss, logits: Tensor, y: Tensor) -> Tensor:
    """How each example's loss changes with its logits, [N, classes]."""
    logits = logits.detach().requires_grad_()
    (slopes,) = torch.autograd.grad(loss(logits, y).sum(), logits)
    return slopes


class _Layers:
    """An MLP's layers for inputs x: what each takes, [N, in], and the logits."""

    def __init__(self, network: MLP, row: Tensor, x: Tensor) -> None:
        views = [view[0] for view in network.views(row.detach().unsqueeze(0)).values()]
        self._matrices, biases = views[::2], views[1::2]
        self.inputs: list[Tensor] = []
        with torch.no_grad():
            h = x.flatten(1)
            for matrix, bias in zip(self._matrices, biases, strict=True):
                self.inputs.append(h.relu_() if self.inputs else h)
                h = torch.addmm(bias, self.inputs[-1], matrix)
        self.logits = h

    def deltas(self, slopes: Tensor) -> list[Tensor]:
        """The gradients by each layer's outputs, [N, ..., out], for slopes [N, ..., classes]."""
        deltas = [slopes]
        for h, matrix in zip(self.inputs[:0:-1], self._matrices[:0:-1], strict=True):
            active = (h > 0).view(len(h), *[1] * (slopes.dim() - 2), -1)
            deltas.insert(0, deltas[0] @ matrix.T * active)
        return deltas


class _Factors(ExampleGradients):
    """Of an MLP: for each layer its inputs [N, in] and the gradients [N, out] by its outputs."""

    def __init__(self, inputs: list[Tensor], deltas: list[Tensor]) -> None:
        self._inputs, self._deltas = inputs, deltas

    def products(self, other: ExampleGradients) -> Tensor:
        assert isinstance(other, _Factors)
        layers = zip(self._inputs, self._deltas, other._inputs, other._deltas, strict=True)
        return torch.stack([(h @ k.T + 1) * (d @ e.T) for h, d, k, e in layers]).sum(dim=0)

    def lengths(self) -> Tensor:
        layers = zip(self._inputs, self._deltas, strict=True)
        squares = [(h.square().sum(dim=1) + 1) * d.square().sum(dim=1) for h, d in layers]
        return torch.stack(squares).sum(dim=0).sqrt()


class _Whole(ExampleGradients):
    """Of any network, [N, P]."""

    def __init__(self, gradients: Tensor) -> None:
        self._gradients = gradients

    def products(self, other: ExampleGradients) -> Tensor:
        assert isinstance(other, _Whole)
        return self._gradients @ other._gradients.T

    def lengths(self) -> Tensor:
        return self._gradients.square().sum(dim=1).sqrt()


class CopiedPass:
    """Any network: taken as often as there are examples and slopes it is a bank, each member with one of them."""

    def __init__(self, network: Network, row: Tensor, x: Tensor) -> None:
        self._network, self._row, self._x = network, row.detach(), x
        with torch.no_grad():
            self.logits = network.apply(self._row.unsqueeze(0), x.unsqueeze(0))[0]

    def gradients(self, slopes: Tensor) -> Iterator[tuple[str, Tensor]]:
        """See `EvaluationPass`."""
        count, several, _ = slopes.shape
        copies = self._row.repeat(count * several, 1).requires_grad_()  # [N * S, P]
        with torch.enable_grad():
            logits = self._network.apply(copies, self._x.repeat_interleave(several, dim=0).unsqueeze(1))
        (gradients,) = torch.autograd.grad(logits, copies, slopes.reshape(-1, 1, slopes.shape[-1]))
        for name, gradient in self._network.views(gradients).items():
            if name not in self._network.statistics:
                yield name, gradient.view(count, several, *gradient.shape[1:])
