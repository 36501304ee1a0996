"""A bank: M networks of one shape in one `[M, P]` tensor, answering and learning at once.

A row of `weights` is a network (the paper's psi): reading weights out or writing sampled ones in is a copy of rows.
Layers are views of that tensor, gradients views of another, and one fused Adam step over the flat tensors serves all.
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.networks.network import BatchUse, Network, Weight

MASKED = -1e10
Optimiser = Literal["adam", "sgd"]


class Bank:
    """M networks. `weights` may be changed in place at any time."""

    def __init__(self, network: Network, weights: Tensor) -> None:
        if weights.shape[1:] != (network.size,):
            raise ValueError(f"weights have shape {tuple(weights.shape)}; expected [M, {network.size}]")
        self.network = network
        self.weights = weights.contiguous()  # [M, P]

    @property
    def members(self) -> int:
        """M."""
        return len(self.weights)

    def first(self, count: int) -> "Bank | None":
        """The first `count` members, None if there are not so many."""
        return Bank(self.network, self.weights[:count]) if count <= self.members else None

    @torch.inference_mode()
    def logits(self, x: Tensor) -> Tensor:
        """Every member's logits, [M, N, classes], for the same inputs x [N, *input_shape]."""
        if torch.compiler.is_compiling():  # for a program with any number of examples there is no number of pieces
            return self.network.apply(self.weights, x.expand(self.members, *x.shape))
        parts = x.split(max(1, self.network.examples_at_once // self.members))
        answers = [self.network.apply(self.weights, part.expand(self.members, *part.shape)) for part in parts]
        return torch.cat(answers, dim=1) if len(answers) > 1 else answers[0]


class Training:
    """Adam (or plain gradient descent) for every member of a bank at once.

    `step` minimises cross-entropy, which may weigh each example differently for each member. For a loss of another kind,
    `gradient` fills the flat gradient, the caller may change it in place, and `update` takes the step.
    """

    def __init__(
        self,
        bank: Bank,
        learning_rate: float,
        weight_decay: float = 0.0,
        decoupled: bool = True,
        optimiser: Optimiser = "adam",
    ) -> None:
        self.bank = bank
        flat = torch.nn.Parameter(bank.weights)
        flat.grad = torch.zeros_like(bank.weights)
        network = bank.network
        values, gradients, statistics = (network.views(tensor) for tensor in (flat.detach(), flat.grad, flat.data))
        self._weights = {name: Weight(values[name], gradients[name]) for name in values}
        # An alias of its own (`data`): to autograd, writing statistics is then no change of the weights beside them.
        self._weights |= {name: Weight(statistics[name]) for name in network.statistics}
        for name in values.keys() - set(network.statistics):
            values[name].requires_grad_()
        self._statistics = flat.data[:, network.learned :] if network.statistics else None
        self._flat = flat
        kind = {"adam": torch.optim.AdamW if decoupled else torch.optim.Adam, "sgd": torch.optim.SGD}[optimiser]
        self._optimiser = kind([flat], lr=learning_rate, weight_decay=weight_decay, fused=True)
        if optimiser == "adam":
            self._optimiser.state[flat] = {
                "step": torch.zeros((), device=flat.device),
                "exp_avg": torch.zeros_like(bank.weights),
                "exp_avg_sq": torch.zeros_like(bank.weights),
            }

    def step(self, x: Tensor, y: Tensor, allowed: Tensor, shares: Tensor | None = None) -> Tensor:
        """One update of every member; returns the members' losses, [M].

        x [M, N, *input_shape] and y [M, N] (or without M: the same for all). `allowed`, bool [classes]: classes outside
        it take no part in the loss. `shares` [M, N] says how often each member takes each example, statistics of the
        batch included; a member that takes none is left as it was.
        """
        members = self.bank.members
        if y.dim() == 1:
            x, y = x.expand(members, *x.shape), y.expand(members, -1)
        means = torch.empty(0)

        def loss(logits: Tensor) -> Tensor:
            nonlocal means
            masked = logits.masked_fill(~allowed, MASKED)  # [M, N, classes]
            losses = functional.cross_entropy(masked.flatten(0, 1), y.flatten(), reduction="none").view_as(y)  # [M, N]
            if shares is None:
                means = losses.mean(dim=1)
            else:
                means = (losses * shares).sum(dim=1) / shares.sum(dim=1).clamp(min=1)
            return means.sum()

        self.bank.network.differentiate(self._weights, x, BatchUse(shares), loss)
        self._update([] if shares is None else (shares.sum(dim=1) == 0).nonzero().flatten().tolist())
        return means.detach()

    def gradient(self, x: Tensor, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """The gradient [M, P] of loss(logits [M, N, classes]), a number, for inputs x [M, N, *input_shape].

        It is the one that `update` follows: what the caller changes in it in place is what the members move along. All
        that the loss needs of the members must come from this one pass: layers write their gradients rather than add.
        """
        assert self._flat.grad is not None
        self._flat.grad.zero_()  # weights that take no part in the loss
        self.bank.network.differentiate(self._weights, x, BatchUse(), loss)
        return self._flat.grad

    def update(self, gradient: Tensor | None = None) -> None:
        """One step of the optimiser along the gradient as it stands, or along another one, [M, P]."""
        if gradient is not None:
            assert self._flat.grad is not None
            self._flat.grad.copy_(gradient)
        self._update([])

    def state(self) -> dict[str, Tensor]:
        """Adam's step count and moments; the weights are the bank's."""
        return {name: value.clone() for name, value in self._optimiser.state[self._flat].items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over Adam's state from `state()`."""
        for name, value in self._optimiser.state[self._flat].items():
            value.copy_(state[name])

    def _update(self, idle: list[int]) -> None:
        """One step; idle members keep weights and moments (the step count, for bias correction, is shared)."""
        moments = [value for value in self._optimiser.state[self._flat].values() if value.dim()]
        moving = [self.bank.weights, *moments]
        kept = [tensor[idle] for tensor in moving] if idle else []
        with torch.no_grad():
            if self._statistics is None:
                self._optimiser.step()
            else:
                statistics = self._statistics.clone()
                self._statistics.zero_()  # with a gradient of zero, zero is what neither optimiser nor decay moves
                self._optimiser.step()
                self._statistics.copy_(statistics)
            for tensor, rows in zip(moving, kept, strict=False):
                tensor[idle] = rows
