"""A residual network in evaluation, for gradients of single examples.

Normalised by running statistics, an example has nothing to do with the others of its batch, and all share their weights. So the
way back is that of one large batch, and an example's gradient by a kernel is the product of the patches that the layer
saw of it, which are the same for all slopes, and the gradients by what the layer gave.
"""

from collections.abc import Generator, Iterator
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.networks.memory import keep_freed_memory
from merlin_cl.networks.normalisation import EPSILON, Statistics
from merlin_cl.networks.resnet import Block, Layer, ResNet

_Gradients = Generator[tuple[str, Tensor], None, Tensor]
"""Names and gradients of weights, and at the end the gradient by what came in."""


class ResidualPass:
    """The answers of a network with weights `row` [P] to x [N, *input_shape], and the way back; see `EvaluationPass`."""

    @torch.no_grad()
    def __init__(self, network: ResNet, row: Tensor, x: Tensor) -> None:
        keep_freed_memory()
        self._network = network
        self._weights = {name: value[0] for name, value in network.views(row.detach().unsqueeze(0)).items()}
        outputs = [layer.outputs for layer in network.layers]
        means, variances = (self._weights[name].split(outputs) for name in ("means", "variances"))
        self._statistics = dict(zip(network.layers, map(Statistics, means, variances), strict=True))
        self._passed: dict[Layer, _LayerPass] = {}
        self._given: list[Tensor] = []  # what every block gave
        h = self._layer(network.stem, x).relu_()
        self._first = h
        for first, second, shortcut in network.blocks:
            past = h if shortcut is None else self._layer(shortcut, h)
            inside = self._layer(first, h).relu_()
            h = self._layer(second, inside).add_(past).relu_()
            self._given.append(h)
        self._features = h.mean(dim=(2, 3))  # [N, maps]
        weight, bias = (self._weights[name] for name in network.head)
        self.logits = torch.addmm(bias, self._features, weight)

    @torch.no_grad()
    def gradients(self, slopes: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Of slopes [N, S, classes] by the logits, for each learned weight its name and gradients [N, S, *shape]."""
        weight, bias = self._network.head
        yield weight, self._features[:, None, :, None] * slopes.unsqueeze(2)
        yield bias, slopes
        maps = self._given[-1]
        by_features = slopes @ self._weights[weight].T / (maps.shape[2] * maps.shape[3])
        g = by_features[..., None, None].expand(*by_features.shape, *maps.shape[2:])  # [N, S, maps, H, W]
        for block, given in zip(reversed(self._network.blocks), reversed(self._given), strict=True):
            g = yield from self._through_block(block, given, g)
        yield from self._passed[self._network.stem].gradients(_through_relu(g, self._first))

    def _through_block(self, block: Block, given: Tensor, g: Tensor) -> _Gradients:
        """A block's gradients, from the one by what it gave, [N, S, out, H, W]; returns the one by what it took."""
        first, second = self._passed[block.first], self._passed[block.second]
        g = _through_relu(g, given)
        inside = _through_relu((yield from second.gradients(g)), second.x)
        by_input = yield from first.gradients(inside)
        past = g if block.shortcut is None else (yield from self._passed[block.shortcut].gradients(g))
        return by_input.add_(past)

    def _layer(self, layer: Layer, x: Tensor) -> Tensor:
        self._passed[layer] = passed = _LayerPass(layer, self._weights, self._statistics[layer], x)
        return passed.y


class _LayerPass:
    """A convolution of x [N, in, H, W] and its normalisation by running statistics, y [N, out, H, W]."""

    def __init__(self, layer: Layer, weights: dict[str, Tensor], kept: Statistics, x: Tensor) -> None:
        self._layer, self.x = layer, x
        kernel, gain, bias = (weights[name] for name in layer.weights)
        self._kernel = kernel.permute(3, 0, 1, 2).contiguous()  # [out, in, height, width]
        z = functional.conv2d(x, self._kernel, None, layer.stride, layer.kernel // 2)
        inverse = (kept.variance.clamp(min=0) + EPSILON).rsqrt()[:, None, None]
        self._normal = z.sub_(kept.mean[:, None, None]).mul_(inverse)
        self._scale = gain[:, None, None] * inverse
        self.y = torch.addcmul(bias[:, None, None], self._normal, gain[:, None, None])

    @cached_property
    def _patches(self) -> Tensor:
        """The inputs of every output, [N, in * height * width, pixels]."""
        layer = self._layer
        return functional.unfold(self.x, layer.kernel, padding=layer.kernel // 2, stride=layer.stride)

    def gradients(self, g: Tensor) -> _Gradients:
        """Those by bias, gain and kernel, from the one by y, [N, S, out, H, W]; returns the one by x, [N, S, in, H, W]."""
        layer, (count, several, outputs) = self._layer, g.shape[:3]
        kernel, gain, bias = layer.weights
        yield bias, g.sum(dim=(3, 4))
        yield gain, (g * self._normal.unsqueeze(1)).sum(dim=(3, 4))
        g = (g * self._scale).view(count, several * outputs, -1)  # by what the convolution gave
        products = self._patches @ g.transpose(1, 2)  # [N, in * height * width, S * out]
        shape = (count, layer.inputs, layer.kernel, layer.kernel, several, outputs)
        yield kernel, products.view(shape).movedim(4, 1)
        return self._by_input(g.view(-1, *self.y.shape[1:])).view(count, several, *self.x.shape[1:])

    def _by_input(self, g: Tensor) -> Tensor:
        """The gradient [n, in, H, W] by what the convolution took, from the one by what it gave."""
        layer = self._layer
        if layer.stride == 1:  # then it is a convolution, which is several times as fast
            return functional.conv2d(g, self._kernel.transpose(0, 1).flip(2, 3), padding=layer.kernel // 2)
        beyond = [
            (size - layer.kernel % 2) % layer.stride for size in self.x.shape[2:]
        ]  # the last rows that no output takes
        return functional.conv_transpose2d(g, self._kernel, None, layer.stride, layer.kernel // 2, beyond)


def _through_relu(g: Tensor, given: Tensor) -> Tensor:
    """The gradient by what ReLU took, [N, S, C, H, W], from the one by what it gave; `given` [N, C, H, W]."""
    return g * (given > 0).unsqueeze(1)
