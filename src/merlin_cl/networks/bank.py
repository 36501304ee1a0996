"""A bank: M networks of one shape in one `[M, P]` tensor, answering and learning at once.

A row of `weights` is a network (the paper's psi): reading weights out or writing sampled ones in is a copy of rows.
Layers are views of that tensor, gradients views of another, and one fused Adam step over the flat tensors serves all.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.networks.network import Backward, BatchUse, Network, Weight
from merlin_cl.networks.optimisers import Kind, optimiser_for

MASKED = -1e10


class Bank:
    """M networks. `weights` may be changed in place at any time."""

    def __init__(self, network: Network, weights: Tensor) -> None:
        if weights.shape[1:] != (network.size,):
            raise ValueError(f"weights have shape {tuple(weights.shape)}; expected [M, {network.size}]")
        self.network = network
        self.weights = weights.contiguous()  # [M, P]
        self._layers = {name: Weight(view) for name, view in network.views(self.weights).items()}

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
        answers = [self.network.forward(self._layers, part.expand(self.members, *part.shape)) for part in parts]
        return torch.cat(answers, dim=1) if len(answers) > 1 else answers[0]


class Gradients:
    """The gradients of a loss by the weights of every member of a bank, [M, P], for whoever moves them."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self._gradient = torch.zeros_like(bank.weights)
        network, flat = bank.network, bank.weights
        values, gradients, statistics = (network.views(tensor) for tensor in (flat.detach(), self._gradient, flat.data))
        self._weights = {name: Weight(values[name], gradients[name]) for name in values}
        # An alias of its own (`data`): to autograd, writing statistics is then no change of the weights beside them.
        self._weights |= {name: Weight(statistics[name]) for name in network.statistics}
        for name in values.keys() - set(network.statistics):
            values[name].requires_grad_()
        self._statistics = flat.data[:, network.learned :] if network.statistics else None
        self._pass: tuple[Tensor, Backward] | None = None  # logits of the last `forward`, and what leads back from them

    @property
    def flat(self) -> Tensor:
        """The gradient that was asked for last, [M, P]."""
        return self._gradient

    def label_gradient(self, x: Tensor, y: Tensor, allowed: Tensor, shares: Tensor | None = None) -> Tensor:
        """Fill the gradient that `step` follows, without following it; returns the members' losses, [M]."""
        members = self.bank.members
        if y.dim() == 1:
            x, y = x.expand(members, *x.shape), y.expand(members, -1)
        if shares is None:
            weighing = x.new_full((1, 1), 1 / y.shape[1]).expand_as(y)  # [M, N]
        else:
            weighing = shares * (1 / shares.sum(dim=1, keepdim=True).clamp(min=1))
        logits, backward = self.bank.network.traced(self._weights, x, BatchUse(shares))
        slope, losses = cross_entropy_slope(logits, y, allowed, weighing)
        backward(slope)
        return (losses * weighing).sum(dim=1)

    def gradient(self, x: Tensor, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """The gradient [M, P] of loss(logits [M, N, classes]), a number, for inputs x [M, N, *input_shape]; see `backward`."""
        return self.backward(loss(self.forward(x)))

    def forward(self, x: Tensor) -> Tensor:
        """Logits [M, N, classes] for inputs x [M, N, *input_shape], in training: for a loss that `backward` takes."""
        logits, backward = self.bank.network.traced(self._weights, x, BatchUse())
        self._pass = logits.requires_grad_(), backward
        return logits

    def backward(self, loss: Tensor) -> Tensor:
        """The gradient [M, P] of a loss, a number, made of the logits that `forward` gave last.

        It is the one that `update` follows: what the caller changes in it in place is what the members move along. All
        that the loss needs of the members must come from that one pass: layers write their gradients rather than add.
        """
        if self._pass is None:
            raise UsageError("There is no pass to lead back through; call forward(x) before each loss.")
        (logits, backward), self._pass = self._pass, None
        self._gradient.zero_()  # weights that take no part in the loss
        (slope,) = torch.autograd.grad(loss, logits)
        backward(slope)
        return self._gradient


class Training(Gradients):
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
        optimiser: Kind = "adam",
    ) -> None:
        super().__init__(bank)
        self._optimiser = optimiser_for(optimiser, bank.weights, learning_rate, weight_decay, decoupled)

    def step(self, x: Tensor, y: Tensor, allowed: Tensor, shares: Tensor | None = None) -> Tensor:
        """One update of every member; returns the members' losses, [M].

        x [M, N, *input_shape] and y [M, N] (or without M: the same for all). `allowed`, bool [classes]: classes outside
        it take no part in the loss. `shares` [M, N] says how often each member takes each example, statistics of the
        batch included; a member that takes none is left as it was.
        """
        losses = self.label_gradient(x, y, allowed, shares)
        self._update([] if shares is None else (shares.sum(dim=1) == 0).nonzero().flatten().tolist())
        return losses

    def update(self, gradient: Tensor | None = None) -> None:
        """One step of the optimiser along the gradient as it stands, or along another one, [M, P]."""
        self._update([], gradient)

    def foreseen(self, x: Tensor, y: Tensor, allowed: Tensor) -> Bank:
        """The members as `step` would make them; they stay as they are."""
        kept = None if self._statistics is None else self._statistics.clone()
        self.label_gradient(x, y, allowed)
        bank = Bank(self.bank.network, self._optimiser.foreseen(self.bank.weights, self._gradient))
        if self._statistics is not None and kept is not None:
            bank.weights[:, bank.network.learned :] = self._statistics
            self._statistics.copy_(kept)
        return bank

    def state(self) -> dict[str, Tensor]:
        """Adam's step count and moments; the weights are the bank's."""
        return {name: value.clone() for name, value in self._optimiser.state.items()}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over Adam's state from `state()`."""
        for name, value in self._optimiser.state.items():
            value.copy_(state[name])

    def _update(self, idle: list[int], gradient: Tensor | None = None) -> None:
        """One step; idle members keep weights and moments (the step count, for bias correction, is shared)."""
        gradient = self._gradient if gradient is None else gradient
        moving = [self.bank.weights, *self._optimiser.moments] if idle else []
        kept = [tensor[idle] for tensor in moving]
        with torch.no_grad():
            if self._statistics is None:
                self._optimiser.step(self.bank.weights, gradient)
            else:
                statistics = self._statistics.clone()
                self._statistics.zero_()  # with a gradient of zero, zero is what neither optimiser nor decay moves
                self._optimiser.step(self.bank.weights, gradient)
                self._statistics.copy_(statistics)
            for tensor, rows in zip(moving, kept, strict=True):
                tensor[idle] = rows


def cross_entropy_slope(logits: Tensor, y: Tensor, allowed: Tensor, weighing: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient [..., N, classes] by the logits of the weighed sum of cross-entropies with labels y, and these [..., N].

    Softmax minus the label, without a graph. Only the `allowed` classes, bool [classes], compete.
    """
    shares = logits.masked_fill(~allowed, MASKED).log_softmax(dim=-1)
    labels = y.unsqueeze(-1)
    slope = torch.zeros_like(shares).scatter_(-1, labels, -weighing.unsqueeze(-1))
    slope = torch.ops.aten._log_softmax_backward_data(slope, shares, -1, shares.dtype)
    return slope, -shares.gather(-1, labels).squeeze(-1)
