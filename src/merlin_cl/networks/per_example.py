"""Gradients of single examples: one network taken as often as there are examples is a bank, each member with its own."""

from collections.abc import Callable

import torch
from torch import Tensor

from merlin_cl.networks.network import Network


def per_example_gradients(network: Network, row: Tensor, x: Tensor, loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Gradients [N, P] of the network with weights `row` [P], in evaluation, for each of the inputs x [N, *input_shape].

    `loss` gives the N losses, or their sum, from logits [N, classes]. Statistics have gradient zero: none trains them.
    """
    copies = row.detach().repeat(len(x), 1).requires_grad_()  # [N, P]
    logits = network.apply(copies, x.unsqueeze(1))[:, 0]  # [N, classes]
    (gradients,) = torch.autograd.grad(loss(logits).sum(), copies)
    gradients[:, network.learned :] = 0
    return gradients
