"""Running statistics afresh: models that were sampled or averaged carry ones that fit no data."""

import torch
from torch import Tensor

from merlin_cl.networks.bank import Bank
from merlin_cl.networks.network import BatchUse, Weight


@torch.no_grad()
def reestimate_statistics(bank: Bank, x: Tensor, weights: Tensor | None = None) -> None:
    """Set every member's running statistics to those of x as one batch, layer by layer; other weights stay.

    x [n, *input_shape], or [M, n, *input_shape] to give each member its own; `weights` [n], which sum to n, say how much
    each example counts. The batch counter goes up by one. A network
    that keeps no statistics is left as it is.
    """
    network = bank.network
    if not network.statistics or x.numel() == 0:
        return
    if x.dim() == len(network.input_shape) + 1:
        x = x.expand(bank.members, *x.shape)
    at_once = max(1, network.examples_at_once // x.shape[1])
    for start in range(0, bank.members, at_once):  # members are independent, examples are not
        rows = slice(start, start + at_once)
        values = {name: Weight(view) for name, view in network.views(bank.weights[rows]).items()}
        shares = None if weights is None else weights.expand(len(bank.weights[rows]), -1)
        network.forward(values, x[rows], BatchUse(shares, momentum=1.0))
