"""All members of a bank as machine code, one after the other: what one has in the cache is done with before the next."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from merlin_cl.networks.network import Weight
from merlin_cl.networks.normalisation import Statistics, scale_and_shift
from merlin_cl.networks.planes.member import Evaluated, LayerNumbers, Numbers, packed
from merlin_cl.networks.planes.training import Trained
from merlin_cl.networks.resnet import Layer, ResNet

AT_ONCE = 2**17
"""Numbers in the first stage's maps of the examples that are evaluated at once: half a megabyte, which the second cache holds."""


class TrainedBank:
    """One training pass of all members: `features` [M, N, maps] for x [M, N, channels, height, width]; `backward` once.

    `shares` [M, N] says how often each member takes each example; one that takes none is normalised by all of them.
    """

    def __init__(self, network: ResNet, weights: Mapping[str, Weight], x: Tensor, shares: Tensor | None) -> None:
        self._network = network
        self._weights = weights
        taken = x.new_ones(x.shape[:2]) if shares is None else shares
        self._total = taken.sum(dim=1, keepdim=True)  # [M, 1]
        dtype = weights[network.stem.weights[0]].value.dtype
        each = torch.where(self._total > 0, taken / self._total, 1 / x.shape[1]).to(dtype).numpy()
        outputs = [layer.outputs for layer in network.layers]
        self._means, self._variances = torch.empty(2, len(x), sum(outputs), dtype=dtype)
        kept = [part.numpy() for part in (self._means, self._variances)]
        ends = np.cumsum(outputs)
        values = _by_layer(network, {name: weight.value for name, weight in weights.items()})
        self._members, found = [], []
        planes = None
        for m, (mine, own) in enumerate(zip(values, each, strict=True)):
            if planes is None or x.stride(0) != 0:
                planes = packed(x[m].contiguous().numpy(), own.dtype)
            statistics = {
                layer: (kept[0][m, end - layer.outputs : end], kept[1][m, end - layer.outputs : end])
                for layer, end in zip(network.layers, ends, strict=True)
            }
            self._members.append(Trained(network, mine, own, statistics))
            found.append(torch.from_numpy(self._members[-1].features(planes)))
        self.features = torch.stack(found)

    def statistics(self) -> dict[Layer, Statistics]:
        """Of the batch, [M, out] for each layer."""
        outputs = [layer.outputs for layer in self._network.layers]
        found = {}
        means, variances = (part.split(outputs, dim=1) for part in (self._means, self._variances))
        for layer, mean, variance in zip(self._network.layers, means, variances, strict=True):
            counted = (self._total * self._members[0].pixels(layer)).clamp(
                min=2
            )  # a single value has no unbiased variance
            found[layer] = Statistics(mean, variance * (counted / (counted - 1)))
        return found

    def backward(self, of_features: Tensor) -> None:
        """Write the gradients by the layers' weights from the one by the features."""
        wanted = {name: weight.gradient for name, weight in self._weights.items() if weight.gradient is not None}
        gradients = _by_layer(self._network, wanted)
        for member, mine, of_mine in zip(self._members, gradients, of_features.numpy(), strict=True):
            member.backward(of_mine, mine)


def evaluated(network: ResNet, weights: Mapping[str, Weight], x: Tensor) -> Tensor:
    """Features [M, N, maps] for x [M, N, channels, height, width], by running statistics."""
    values = _by_layer(network, {name: weight.value for name, weight in weights.items()})
    outputs = [layer.outputs for layer in network.layers]
    means, variances = (weights[name].value.detach().split(outputs, dim=1) for name in ("means", "variances"))
    constants: list[dict[Layer, tuple[Numbers, Numbers]]] = [{} for _ in values]
    for layer, *kept in zip(network.layers, means, variances, strict=True):
        gain, bias = (weights[name].value.detach() for name in layer.weights[1:])
        both = [part.numpy() for part in scale_and_shift(gain, bias, Statistics(*kept))]
        for m, found in enumerate(constants):
            found[layer] = both[0][m], both[1][m]
    _, height, width = network.input_shape
    at_once = max(1, AT_ONCE // (network.maps[0] * height * width))
    features: Tensor = means[0].new_empty(*x.shape[:2], network.maps[-1])
    for start in range(0, x.shape[1], at_once):
        some = x[:, start : start + at_once]
        planes = None
        for m, mine in enumerate(values):
            if planes is None or x.stride(0) != 0:
                planes = packed(some[m].contiguous().numpy(), features.numpy().dtype)
            one = Evaluated(network, mine, some.shape[1], constants[m])
            features[m, start : start + at_once] = torch.from_numpy(one.features(planes))
    return features


def _by_layer(network: ResNet, values: Mapping[str, Tensor]) -> list[dict[Layer, LayerNumbers]]:
    """For each member, its layers' weights, which may be written to."""
    flat = {layer: [values[name].detach().flatten(1).numpy() for name in layer.weights] for layer in network.layers}
    members = len(values[network.stem.weights[0]])
    return [
        {layer: LayerNumbers(*(part[m] for part in parts)) for layer, parts in flat.items()} for m in range(members)
    ]
