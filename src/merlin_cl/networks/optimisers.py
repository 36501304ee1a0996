"""Adam and plain descent over one flat tensor of weights: torch's fused kernels, called without an `Optimizer` around them.

For one small network the bookkeeping of `torch.optim.Optimizer.step` costs as much as the arithmetic, and its first call imports
a second's worth of torch. torch's functional forms do the same arithmetic, and an update can also be foreseen: taken on copies.
"""

from abc import ABC, abstractmethod
from typing import Literal

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.adamw import adamw

Kind = Literal["adam", "sgd"]
BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Adam's, as torch and its paper have them."""


class Optimiser(ABC):
    """A rule for moving weights along a gradient, and what it remembers from step to step: `state`."""

    state: dict[str, Tensor]

    def __init__(self, learning_rate: float, weight_decay: float) -> None:
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay

    @property
    def moments(self) -> list[Tensor]:
        """What is remembered for each weight, tensors shaped as the weights are."""
        return [value for value in self.state.values() if value.dim()]

    @torch.no_grad()
    def step(self, weights: Tensor, gradient: Tensor) -> None:
        """Move the weights in place."""
        self._move(weights, gradient, self.state)

    @torch.no_grad()
    def foreseen(self, weights: Tensor, gradient: Tensor) -> Tensor:
        """Where a step would bring the weights; nothing is changed."""
        moved = weights.clone()
        self._move(moved, gradient, {name: value.clone() for name, value in self.state.items()})
        return moved

    @abstractmethod
    def _move(self, weights: Tensor, gradient: Tensor, state: dict[str, Tensor]) -> None: ...


class Adam(Optimiser):
    """Adam; the decay of weights is part of the gradient, or apart from it (`decoupled`: AdamW)."""

    def __init__(self, weights: Tensor, learning_rate: float, weight_decay: float, decoupled: bool) -> None:
        super().__init__(learning_rate, weight_decay)
        self._rule = adamw if decoupled else adam
        self.state = {
            "step": torch.zeros((), device=weights.device),
            "exp_avg": torch.zeros_like(weights),
            "exp_avg_sq": torch.zeros_like(weights),
        }

    def _move(self, weights: Tensor, gradient: Tensor, state: dict[str, Tensor]) -> None:
        self._rule(
            [weights],
            [gradient],
            [state["exp_avg"]],
            [state["exp_avg_sq"]],
            [],
            [state["step"]],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            eps=EPSILON,
            maximize=False,
        )


class Descent(Optimiser):
    """Plain gradient descent, which remembers nothing."""

    def __init__(self, learning_rate: float, weight_decay: float) -> None:
        super().__init__(learning_rate, weight_decay)
        self.state = {}

    def _move(self, weights: Tensor, gradient: Tensor, state: dict[str, Tensor]) -> None:
        if self.weight_decay:
            gradient = gradient.add(weights, alpha=self.weight_decay)
        weights.sub_(gradient, alpha=self.learning_rate)


def optimiser_for(kind: Kind, weights: Tensor, learning_rate: float, weight_decay: float, decoupled: bool) -> Optimiser:
    """The optimiser of a kind for weights of this shape."""
    if kind == "sgd":
        return Descent(learning_rate, weight_decay)
    return Adam(weights, learning_rate, weight_decay, decoupled)
