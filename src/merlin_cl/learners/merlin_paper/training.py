"""Adam on classifiers, as base models learn and as sampled models are fine-tuned: each member of a bank on batches of its own."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.mlp import MLP
from merlin_cl.tensors import State, rows

NOBODY = -1
"""In a batch, in place of an example."""


class ClassifierTraining(Protocol):
    """What trains the members of a bank."""

    def learn(self, x: Tensor, y: Tensor, batches: Tensor, allowed: Tensor) -> None:
        """A step of every member on each of its batches in turn, [M, S, N]: places in x and y, or `NOBODY`.

        Only the `allowed` classes, bool [classes], compete; a member whose batch is empty is left as it was.
        """

    def state(self) -> State:
        """Adam's step count and moments; the weights are the bank's."""

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""


def training_of(bank: Bank, rate: float, weight_decay: float) -> ClassifierTraining:
    """Adam with an L2 term in the gradient: for MLPs on a CPU as machine code, at half the price."""
    if isinstance(bank.network, MLP) and bank.weights.device.type == "cpu":
        return _Compiled(bank, bank.network, rate, weight_decay)
    return _ByBank(bank, rate, weight_decay)


def batches_of(order: Tensor, size: int) -> Tensor:
    """Orders [M, n] cut into batches, [M, S, size]; the last one is filled up with nobody.

    >>> batches_of(torch.tensor([[2, 0, 1]]), 2).tolist()
    [[[2, 0], [1, -1]]]
    """
    missing = -order.shape[1] % size
    filled = torch.nn.functional.pad(order, (0, missing), value=NOBODY)
    return filled.view(len(order), -1, size)


class _ByBank:
    """Any network on any device."""

    def __init__(self, bank: Bank, rate: float, weight_decay: float) -> None:
        self._training = Training(bank, rate, weight_decay, decoupled=False)

    def learn(self, x: Tensor, y: Tensor, batches: Tensor, allowed: Tensor) -> None:
        for batch in batches.unbind(dim=1):  # [M, N]
            taken = batch != NOBODY
            wanted = taken.any(dim=0)
            if wanted.any():  # the end of the last batch may be nobody's
                batch, taken = batch[:, wanted], taken[:, wanted]
            chosen, shares = batch.clamp(min=0), None if taken.all() else taken.to(x.dtype)
            self._training.step(rows(x, chosen), y[chosen], allowed, shares)

    def state(self) -> State:
        return self._training.state()

    def restore(self, state: State) -> None:
        self._training.restore(state)


class _Compiled:
    """MLPs on a CPU. numba takes a third of a second to import, so it is imported where something is learned."""

    def __init__(self, bank: Bank, network: MLP, rate: float, weight_decay: float) -> None:
        self._bank, self._widths = bank, np.array(network.widths)
        self._rate, self._weight_decay = rate, weight_decay
        self._steps = 0
        self._means, self._squares = (torch.zeros_like(bank.weights) for _ in range(2))

    def learn(self, x: Tensor, y: Tensor, batches: Tensor, allowed: Tensor) -> None:
        from merlin_cl.networks.compiled_mlp import train

        weights, means, squares = (tensor.numpy() for tensor in (self._bank.weights, self._means, self._squares))
        places, classes = batches.contiguous().numpy(), allowed.numpy()
        examples, labels, widths = x.flatten(1).contiguous().numpy(), y.numpy(), self._widths
        train(
            *(weights, means, squares, widths), *(examples, labels, places, classes),
            self._steps, self._rate, self._weight_decay,
        )  # fmt: skip
        self._steps += batches.shape[1]

    def state(self) -> State:
        return {"step": self._steps, "means": self._means.clone(), "squares": self._squares.clone()}

    def restore(self, state: State) -> None:
        self._steps = state["step"]
        self._means.copy_(state["means"])
        self._squares.copy_(state["squares"])
