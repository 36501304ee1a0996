"""All members of a bank as machine code, one after the other: what one has in the cache is done with before the next."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from merlin_cl.networks.network import Weight
from merlin_cl.networks.normalisation import Statistics, scale_and_shift
from merlin_cl.networks.planes.member import Evaluated, LayerNumbers, Numbers, packed
from merlin_cl.networks.planes.training import Trained
from merlin_cl.networks.resnet import Layer, ResNet

AT_ONCE = 2**19
"""Numbers in the first stage's maps of the examples that are evaluated at once: 2 MB, which caches hold."""


class TrainedBank:
    """One training pass of all members: `readings` for x [M, N, channels, height, width]; `backward` once.

    They are read where `grids` says, a number for each block: its maps' means over so many times so many windows, or 0.
    `shares` [M, N] says how often each member takes each example; one that takes none is normalised by all of them.
    """

    def __init__(
        self,
        network: ResNet,
        weights: Mapping[str, Weight],
        x: Tensor,
        shares: Tensor | None,
        grids: Sequence[int],
    ) -> None:
        self._network, self._weights, self._grids = network, weights, grids
        dtype = weights[network.stem.weights[0]].value.dtype
        taken = torch.ones(x.shape[:2], dtype=dtype) if shares is None else shares.to(dtype)
        self._total = taken.sum(dim=1, keepdim=True)  # [M, 1]
        each = torch.where(self._total > 0, taken / self._total, 1 / x.shape[1]).numpy()
        outputs = sum(layer.outputs for layer in network.layers)
        self._means, self._variances = torch.empty(2, len(x), outputs, dtype=dtype)
        kept = zip(*(_columns(network, part.numpy()) for part in (self._means, self._variances)), strict=True)
        values = _by_layer(network, {name: weight.value for name, weight in weights.items()})
        self._members: list[Trained] = []
        readings = []
        for mine, own, (means, variances), images in zip(values, each, kept, _packed(x, each.dtype), strict=True):
            statistics = {layer: (means[layer], variances[layer]) for layer in network.layers}
            self._members.append(Trained(network, mine, own, statistics))
            readings.append([torch.from_numpy(read) for read in self._members[-1].readings(images, grids)])
        self.readings = [torch.stack(read) for read in zip(*readings, strict=True)]  # [M, N, maps * grid^2] each

    def statistics(self) -> Statistics:
        """Of the batch: means and unbiased variances of all layers' outputs, [M, outputs]."""
        layers = self._network.layers
        pixels = np.repeat([self._members[0].pixels(layer) for layer in layers], [layer.outputs for layer in layers])
        counted = (self._total * torch.from_numpy(pixels)).clamp_(min=2)  # a single value has no unbiased variance
        return Statistics(self._means, self._variances * (counted / (counted - 1)))

    def backward(self, of_readings: Sequence[Tensor]) -> None:
        """Write the gradients by the layers' weights from those by the readings."""
        wanted = {name: weight.gradient for name, weight in self._weights.items() if weight.gradient is not None}
        gradients = _by_layer(self._network, wanted)
        for member, mine, *of_mine in zip(
            self._members, gradients, *(read.numpy() for read in of_readings), strict=True
        ):
            member.backward(of_mine, self._grids, mine)


def evaluated(network: ResNet, weights: Mapping[str, Weight], x: Tensor, grids: Sequence[int]) -> list[Tensor]:
    """Readings [M, N, maps * grid^2] for x [M, N, channels, height, width], by running statistics; see `TrainedBank`."""
    values = {name: weight.value.detach() for name, weight in weights.items()}
    gains, biases = (torch.cat([values[layer.weights[part]] for layer in network.layers], dim=1) for part in (1, 2))
    constants = scale_and_shift(gains, biases, Statistics(values["means"], values["variances"]))
    scales, shifts = (_columns(network, part.numpy()) for part in constants)
    members = _by_layer(network, values)
    at_once = max(1, AT_ONCE // (network.maps[0] * network.input_shape[1] * network.input_shape[2]))
    dtype = gains.numpy().dtype
    parts = []
    for some in x.split(at_once, dim=1):
        together = zip(members, scales, shifts, _packed(some, dtype), strict=True)
        read = [
            Evaluated(network, mine, some.shape[1], scale, shift).readings(images, grids)
            for mine, scale, shift, images in together
        ]
        parts.append([torch.from_numpy(np.stack(of_members)) for of_members in zip(*read, strict=True)])
    return [torch.cat(of_parts, dim=1) for of_parts in zip(*parts, strict=True)]


def _packed(x: Tensor, dtype: "np.dtype[np.floating]") -> list[Numbers]:
    """Each member's images as planes; one array serves all where they have the same."""
    if x.stride(0) == 0 or len(x) == 1:
        return [packed(x[0].contiguous().numpy(), dtype)] * len(x)
    return [packed(images.contiguous().numpy(), dtype) for images in x]


def _columns(network: ResNet, rows: Numbers) -> list[dict[Layer, Numbers]]:
    """The layers' parts of each row, from [M, outputs]."""
    places = np.cumsum([0, *(layer.outputs for layer in network.layers)]).tolist()
    parts = list(zip(network.layers, places, places[1:], strict=False))
    return [{layer: row[start:end] for layer, start, end in parts} for row in rows]


def _by_layer(network: ResNet, values: Mapping[str, Tensor]) -> list[dict[Layer, LayerNumbers]]:
    """For each member, its layers' weights, which may be written to."""
    members = len(values[network.stem.weights[0]])
    parts = {
        layer: [values[name].detach().numpy().reshape(members, -1) for name in layer.weights]
        for layer in network.layers
    }
    return [
        {layer: LayerNumbers(kernel[m], gain[m], bias[m]) for layer, (kernel, gain, bias) in parts.items()}
        for m in range(members)
    ]
