"""The interface of a network that is written once for M members: what its weights are called, and how it computes."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Weight(NamedTuple):
    """One layer's weight for all members, [M, *shape], and, while a bank trains, where its gradient is to go."""

    value: Tensor
    gradient: Tensor | None = None


class Network(ABC):
    """A classifier's shape. It holds no weights: these are rows of a `[M, P]` tensor, P = `size`."""

    input_shape: tuple[int, ...]
    classes: int

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every weight, in the order in which a row holds them. Matrices are stored [in, out]."""

    @abstractmethod
    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Freshly drawn weights, [members, P], as `torch.nn` draws them."""

    @abstractmethod
    def forward(self, weights: Mapping[str, Weight], x: Tensor) -> Tensor:
        """Logits [M, N, classes] for inputs x [M, N, *input_shape], each member with its own."""

    @abstractmethod
    def module(self, row: Tensor) -> nn.Module:
        """One member, weights [P], as a plain `torch.nn` module."""

    @property
    def size(self) -> int:
        """P, the number of weights of one member."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The weights of every layer, [M, *shape], as views of flat [M, P]."""
        found, start = {}, 0
        for name, shape in self.shapes.items():
            stop = start + math.prod(shape)
            found[name] = flat[:, start:stop].view(-1, *shape)
            start = stop
        return found

    def apply(self, flat: Tensor, x: Tensor) -> Tensor:
        """Logits [M, N, classes] as a differentiable function of the weights [M, P]."""
        return self.forward({name: Weight(value) for name, value in self.views(flat).items()}, x)

    def torch_order(self) -> Tensor:
        """Positions, int64 [P], that bring a row into `torch.nn`'s order, where matrices are stored [out, in]."""
        positions = self.views(torch.arange(self.size).unsqueeze(0))
        return torch.cat([view[0].t().flatten() if view.dim() == 3 else view.flatten() for view in positions.values()])
