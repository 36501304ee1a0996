"""What the matrices of a network are multiplied with: the second moments of every layer's inputs."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.networks.network import Network

AT_ONCE = 50
"""Examples that go through the network in one piece."""


@torch.no_grad()
def input_moments(network: Network, row: Tensor, x: Tensor, weights: Tensor) -> dict[str, Tensor]:
    """For a network's weights [P], the mean of h h' over the inputs h of each layer, [in, in], by the name of its weight.

    A convolution's inputs are the patches that its kernel meets. Examples x count as `weights`, [N], says.
    """
    module = network.module(row).to(row.device).eval()
    found: dict[str, Tensor] = {}

    def noting(name: str) -> Callable[[nn.Module, Any, Tensor], None]:
        def note(layer: nn.Module, given: tuple[Tensor], _: Tensor) -> None:
            rows = _rows(layer, given[0])  # [n, places, in]
            moment = torch.einsum("npi,npj,n->ij", rows, rows, shares) / rows.shape[1]
            found[name] = found[name] + moment if name in found else moment

        return note

    for name, layer in network.layers_of(module).items():
        layer.register_forward_hook(noting(name))
    for part, some in zip(x.split(AT_ONCE), weights.split(AT_ONCE), strict=True):
        shares = some / weights.sum()
        module(part)
    return found


def _rows(layer: nn.Module, h: Tensor) -> Tensor:
    """Inputs as rows: [n, 1, in], or a convolution's patches, [n, places, in]."""
    if not isinstance(layer, nn.Conv2d):
        return h.flatten(1).unsqueeze(1)
    assert isinstance(layer.padding, tuple)
    return functional.unfold(h, layer.kernel_size, padding=layer.padding, stride=layer.stride).transpose(1, 2)
