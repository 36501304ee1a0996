"""The interface of a network that is written once for M members: what its weights are called, and how it computes."""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

Backward = Callable[[Tensor], None]
"""What leads back through a network: given the slope of a loss by the logits [M, N, classes], it writes gradients of weights."""


class Weight(NamedTuple):
    """One layer's weight for all members, [M, *shape], and, while a bank trains, where its gradient is to go."""

    value: Tensor
    gradient: Tensor | None = None


class BatchUse(NamedTuple):
    """How layers that normalise by the statistics of their batch, as in training, are to take them."""

    shares: Tensor | None = None  # [M, N], how often each member takes each example; None: once
    momentum: float = 0.1  # weight of this batch in the running statistics; 1 replaces them


class Network(ABC):
    """A classifier's shape. It holds no weights: these are rows of a `[M, P]` tensor, P = `size`."""

    input_shape: tuple[int, ...]
    classes: int

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every weight, in the order in which a row holds them; statistics come last.

        Matrices are stored [in, out], convolutions [in, height, width, out].
        """

    @abstractmethod
    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Freshly drawn weights, [members, P], as `torch.nn` draws them."""

    @abstractmethod
    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Logits [M, N, classes] for inputs x [M, N, *input_shape], each member with its own.

        `batch` None: evaluation. Otherwise training: a network that keeps statistics normalises by those of the batch
        and updates the ones it keeps in place. In training, gradients of weights may go to `Weight.gradient` alone.
        """

    def traced(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse) -> tuple[Tensor, Backward]:
        """Logits [M, N, classes] for inputs x in training, without a graph, and what leads back through the network.

        Given how a loss changes with the logits, the latter writes the loss's gradients to where the learned weights want them.
        """
        learned = [weight for weight in weights.values() if weight.gradient is not None]
        logits = self.forward(weights, x, batch)

        def backward(slope: Tensor) -> None:
            values = [weight.value for weight in learned]
            gradients = torch.autograd.grad(logits, values, slope, allow_unused=True)
            for weight, gradient in zip(learned, gradients, strict=True):
                # None: the layer wrote it, or has no part in the loss
                if gradient is not None and weight.gradient is not None:
                    weight.gradient.copy_(gradient)

        return logits.detach(), backward

    @abstractmethod
    def module(self, row: Tensor) -> nn.Module:
        """One member, weights [P], as a plain `torch.nn` module."""

    @property
    def size(self) -> int:
        """P, the number of weights of one member."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def with_outputs(self, count: int) -> "Network":
        """The same network with another number of outputs; see `growth.py` for its weights."""
        raise NotImplementedError(f"{type(self).__name__} is no classifier: its outputs are not classes")

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """What all members share and no gradient trains; no part of a row."""
        return {}

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the weights that are statistics of the inputs: no gradient trains them and no decay shrinks them."""
        return ()

    @property
    def learned(self) -> int:
        """How many weights of a row are learned: the first ones. The others are statistics."""
        return self.size - sum(math.prod(self.shapes[name]) for name in self.statistics)

    @property
    def head(self) -> tuple[str, str]:
        """Names of weight and bias of the last layer, which turns features into logits: the last ones that are learned."""
        weight, bias = [name for name in self.shapes if name not in self.statistics][-2:]
        return weight, bias

    @property
    def examples_at_once(self) -> int:
        """How many examples, summed over members, may go through in one piece before memory becomes the limit."""
        return sys.maxsize

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The weights of every layer, [M, *shape], as views of flat [M, P]."""
        views, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + math.prod(shape)
            views[name] = flat[:, start:stop].view(-1, *shape)
            start = stop
        return views

    def apply(self, flat: Tensor, x: Tensor) -> Tensor:
        """Logits [M, N, classes] as a differentiable function of the weights [M, P], in evaluation."""
        return self.forward({name: Weight(value) for name, value in self.views(flat).items()}, x)

    def features(self, flat: Tensor, x: Tensor) -> Tensor:
        """What the last layer takes, [M, N, features], for x [M, N, *input_shape], in evaluation."""
        weights = {name: Weight(value) for name, value in self.views(flat).items()}
        weight, bias = self.head
        width = self.shapes[weight][0]
        identity = torch.eye(width, dtype=flat.dtype, device=flat.device)
        weights[weight] = Weight(identity.expand(len(flat), width, width))
        weights[bias] = Weight(flat.new_zeros(len(flat), width))
        return self.forward(weights, x)

    def torch_views(self, flat: Tensor) -> dict[str, Tensor]:
        """`views` under the names and in the order that they have in the `state_dict` of `module`."""
        return self.views(flat)

    def torch_order(self) -> Tensor:
        """Positions, int64 [P], that bring a row into `torch.nn`'s order, where [in, ..., out] is [out, in, ...]."""
        positions = self.torch_views(torch.arange(self.size).unsqueeze(0)).values()
        return torch.cat([outputs_first(view[0]).flatten() for view in positions])


class RowModule(nn.Module):
    """One member with all its weights as one parameter: what `module` gives where torch has no layers of the kind."""

    def __init__(self, network: Network, row: Tensor) -> None:
        super().__init__()
        self.network = network
        self.row = nn.Parameter(row.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        """Outputs [N, classes] for x [N, *input_shape]."""
        return self.network.apply(self.row.unsqueeze(0), x.unsqueeze(0))[0]


def outputs_first(weight: Tensor) -> Tensor:
    """One member's weight as `torch.nn` has it: [out, in, ...] for [in, ..., out]."""
    return weight.movedim(-1, 0) if weight.dim() > 1 else weight
