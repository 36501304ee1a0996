"""One member's way from images to readings."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merlin_cl.networks.planes import layout, normalisation, products
from merlin_cl.networks.planes.geometry import MARGIN_NUMBERS, Geometry, geometry
from merlin_cl.networks.resnet import Block, Layer, ResNet

Numbers = NDArray[Any]


class LayerNumbers(NamedTuple):
    """A layer's kernel, [in * height * width * out], and its gain and bias, [out]; or their gradients."""

    kernel: Numbers
    gain: Numbers
    bias: Numbers


class Scaled(NamedTuple):
    """What a convolution gave, and what its normalisation makes of it: planes * scale + shift."""

    planes: Numbers
    scale: Numbers
    shift: Numbers


class Forward(ABC):
    """Readings of a network for some examples: maps averaged over windows. Features are the last maps, over all pixels."""

    def __init__(self, network: ResNet, weights: Mapping[Layer, LayerNumbers], count: int) -> None:
        self._network, self._weights, self._count = network, weights, count
        self._dtype = weights[network.stem].kernel.dtype

    def readings(self, x: Numbers, grids: Sequence[int]) -> list[Numbers]:
        """After each block whose grid is not 0, [N, maps * grid^2]; x are planes, see `packed`."""
        _, height, width = self._network.input_shape
        at = self._geometry(self._network.stem, height, width)
        y = self._activated(self._network.stem, at, self._convolved(self._network.stem, at, x))
        readings = []
        for block, grid in zip(self._network.blocks, grids, strict=True):
            y, at = self._block(block, at, y)
            if grid:
                readings.append(np.empty((self._count, at.outputs * grid**2), self._dtype))
                layout.average(readings[-1], y, grid, at.height, at.width)
        return readings

    def _block(self, block: Block, at: Geometry, y: Numbers) -> tuple[Numbers, Geometry]:
        """What comes out of a block, and where, from planes y that came out `at`."""
        inside = self._geometry(block.first, at.height, at.width)
        x: Numbers = y
        past: Scaled | Numbers = y
        if block.shortcut is not None:
            x = self._with_margin(inside.x_size)
            layout.split_columns(x, y, at.outputs * (at.height + 2), at.width, at.count)
            past = self._convolved(block.shortcut, self._geometry(block.shortcut, at.height, at.width), x)
        y = self._activated(block.first, inside, self._convolved(block.first, inside, x))
        out = self._geometry(block.second, inside.height, inside.width)
        return self._activated(block.second, out, self._convolved(block.second, out, y), past), out

    def _convolved(self, layer: Layer, at: Geometry, x: Numbers) -> Scaled:
        z = np.empty(at.outputs * at.plane, self._dtype)
        kernel = self._weights[layer].kernel
        products.multiply(z, at.plane, x, at.x_row, at.offsets, kernel, at.outputs, at.height, at.length)
        return self._scaled(layer, at, x, z)

    def _activated(self, layer: Layer, at: Geometry, given: Scaled, past: Scaled | Numbers | None = None) -> Numbers:
        """ReLU of a normalised convolution plus `past`: other activations, or another convolution."""
        y = self._with_margin(at.outputs * at.bordered_plane)
        if past is None:
            adding, more = normalisation.NOTHING, given
        elif isinstance(past, Scaled):
            adding, more = normalisation.PLANES, past
        else:
            adding, more = normalisation.ACTIVATIONS, Scaled(past, given.scale, given.shift)
        z, scale, shift = given
        normalisation.activate(y, z, at.plane, at.height, at.length, at.count, scale, shift, adding, *more)
        return y

    @abstractmethod
    def _scaled(self, layer: Layer, at: Geometry, x: Numbers, z: Numbers) -> Scaled:
        """The normalisation of z, which the layer's convolution made of x."""

    def _geometry(self, layer: Layer, height: int, width: int) -> Geometry:
        return geometry(layer.inputs, layer.outputs, layer.kernel, layer.stride, height, width, self._count)

    def _with_margin(self, size: int) -> Numbers:
        """An array to be filled, with zeros behind."""
        numbers = np.empty(size + MARGIN_NUMBERS, self._dtype)
        numbers[size:] = 0
        return numbers


class Evaluated(Forward):
    """By running statistics, which a scale and a shift of each layer, [out], stand for."""

    def __init__(
        self,
        network: ResNet,
        weights: Mapping[Layer, LayerNumbers],
        count: int,
        scale: Mapping[Layer, Numbers],
        shift: Mapping[Layer, Numbers],
    ) -> None:
        super().__init__(network, weights, count)
        self._scale, self._shift = scale, shift

    def _scaled(self, layer: Layer, at: Geometry, x: Numbers, z: Numbers) -> Scaled:
        return Scaled(z, self._scale[layer], self._shift[layer])


def packed(images: Numbers, dtype: Any) -> Numbers:
    """Images [N, channels, height, width] as planes with borders."""
    count, channels, height, width = images.shape
    planes = np.empty(channels * (height + 2) * (width + 2) * count + MARGIN_NUMBERS, dtype)
    layout.pack(planes, images)
    return planes
