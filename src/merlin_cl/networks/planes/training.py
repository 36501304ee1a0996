"""Members in training: forward by the statistics of the batch, and the chain rule by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from merlin_cl.networks.planes import layout, normalisation, products
from merlin_cl.networks.planes.geometry import Geometry
from merlin_cl.networks.planes.member import Forward, LayerNumbers, Numbers, Scaled
from merlin_cl.networks.resnet import Block, Layer, ResNet


@dataclass
class _Kept:
    """What the backward pass of a layer needs."""

    at: Geometry
    x: Numbers
    z: Numbers  # less its mean
    inverse: Numbers  # [out], one over the standard deviation
    scale: Numbers  # [out], the gain times this
    y: Numbers | None = None


class Trained(Forward):
    """One member, for one pass forward and one backward. Example n counts with each[n], [N], in the statistics."""

    def __init__(
        self,
        network: ResNet,
        weights: Mapping[Layer, LayerNumbers],
        each: Numbers,
        statistics: Mapping[Layer, tuple[Numbers, Numbers]],
    ) -> None:
        super().__init__(network, weights, len(each))
        self._each, self._statistics = each, statistics
        self._kept: dict[Layer, _Kept] = {}
        self._rows: dict[tuple[int, int], Numbers] = {}

    def pixels(self, layer: Layer) -> int:
        """How many one example has in the layer's output."""
        return self._kept[layer].at.pixels

    def _scaled(self, layer: Layer, at: Geometry, x: Numbers, z: Numbers) -> Scaled:
        _, gain, bias = self._weights[layer]
        mean, variance = self._statistics[layer]
        inverse, scale = np.empty_like(gain), np.empty_like(gain)
        normalisation.centre(z, at.plane, at.height, self._row(at), gain, mean, variance, inverse, scale)
        self._kept[layer] = _Kept(at, x, z, inverse, scale)
        return Scaled(z, scale, bias)

    def _activated(self, layer: Layer, at: Geometry, given: Scaled, past: Scaled | Numbers | None = None) -> Numbers:
        self._kept[layer].y = y = super()._activated(layer, at, given, past)
        return y

    def _row(self, at: Geometry) -> Numbers:
        """How much each number in a row of a plane counts."""
        if (at.height, at.width) not in self._rows:
            self._rows[at.height, at.width] = np.tile(self._each / self._dtype.type(at.pixels), at.width)
        return self._rows[at.height, at.width]

    def backward(
        self, of_readings: Sequence[Numbers], grids: Sequence[int], gradients: Mapping[Layer, LayerNumbers]
    ) -> None:
        """Write the gradients by the weights from those by the readings, as `readings` gives them."""
        last = self._kept[self._network.blocks[-1].second].at
        g, also = np.zeros(last.outputs * last.plane, self._dtype), _nothing(self._dtype)
        left = list(of_readings)
        for block, grid in zip(reversed(self._network.blocks), reversed(grids), strict=True):
            if grid:
                at = self._kept[block.second].at
                layout.spread(g, at.plane, left.pop(), grid, at.height, at.width)
            g, also = self._through_block(block, g, also, gradients)
        self._through_relu(self._network.stem, g, also)
        self._through_layer(self._network.stem, g, gradients)

    def _through_block(
        self, block: Block, g: Numbers, also: Numbers, gradients: Mapping[Layer, LayerNumbers]
    ) -> tuple[Numbers, Numbers]:
        """The gradient by the block's input, in two parts, from the one by its output, g + also."""
        self._through_relu(block.second, g, also)
        d = self._through_layer(block.second, g, gradients)
        inside = self._by_input(block.second, d)
        self._through_relu(block.first, inside, _nothing(self._dtype))
        if block.shortcut is None:
            return self._by_input(block.first, self._through_layer(block.first, inside, gradients)), g
        d = self._through_layer(block.first, inside, gradients, twice=True)
        self._through_layer(block.shortcut, g, gradients, into=d)
        return self._by_input_of_two(block.first, block.shortcut, d), _nothing(self._dtype)

    def _through_relu(self, layer: Layer, g: Numbers, also: Numbers) -> None:
        """Let g, the gradient by the layer's output, be the one before its ReLU."""
        at, y = self._kept[layer].at, self._kept[layer].y
        normalisation.through_relu(g, y, at.plane, at.outputs, at.height, at.length, at.count, also)

    def _through_layer(
        self,
        layer: Layer,
        g: Numbers,
        gradients: Mapping[Layer, LayerNumbers],
        into: Numbers | None = None,
        twice: bool = False,
    ) -> Numbers:
        """The gradient by what the layer's convolution gave, with borders; those by the layer's weights are written.

        `twice`: leave room for as much again, `into`: take this room.
        """
        kept = self._kept[layer]
        at, size = kept.at, kept.at.outputs * kept.at.bordered_plane
        d, start = (self._with_margin(2 * size if twice else size), 0) if into is None else (into, size)
        kernel, gain, bias = gradients[layer]
        normalisation.through_norm(
            d, start, g, kept.z, at.plane, at.height, self._row(at), at.count, kept.inverse, kept.scale, gain, bias
        )
        first = start + at.row + at.count
        products.correlate(
            kernel, kept.x, at.x_row, at.offsets, d, first, at.bordered_plane, at.row, at.outputs, at.height, at.length
        )
        return d

    def _by_input(self, layer: Layer, d: Numbers) -> Numbers:
        """The gradient by the layer's input, from `_through_layer`."""
        at = self._kept[layer].at
        g = np.empty(at.inputs * at.in_plane, self._dtype)
        kernel = self._weights[layer].kernel.take(at.turned)
        products.multiply(g, at.in_plane, d, at.row, at.turned_offsets, kernel, at.inputs, at.in_height, at.in_length)
        return g

    def _by_input_of_two(self, layer: Layer, shortcut: Layer, d: Numbers) -> Numbers:
        """The gradient by the input of a convolution and its shortcut, both with a stride of two."""
        at = self._kept[layer].at
        kernels = np.concatenate([self._weights[layer].kernel, self._weights[shortcut].kernel])
        size = at.inputs * at.phase_plane
        phases = np.empty(len(at.phases) * size, self._dtype)
        for place, phase in enumerate(at.phases):
            products.multiply(
                phases[place * size :],
                at.phase_plane,
                d,
                at.row,
                phase.offsets,
                kernels.take(phase.weights),
                at.inputs,
                phase.rows,
                phase.length,
            )
        g = np.empty(at.inputs * at.in_plane, self._dtype)
        layout.merge_phases(g, at.in_plane, phases, at.phase_plane, at.inputs, at.in_height, at.in_width, at.count)
        return g


def _nothing(dtype: "np.dtype[np.floating]") -> Numbers:
    return np.empty(0, dtype)
