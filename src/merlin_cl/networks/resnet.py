"""Narrow residual networks with batch normalisation, M at once: a convolution is one grouped convolution.

Activations are [N, M*C, H, W], one group of C channels a member, with channels last in memory: convolutions this narrow
run about three times as fast so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.networks.mlp import linear
from merlin_cl.networks.network import BatchUse, Network, Weight, outputs_first
from merlin_cl.networks.normalisation import Norm
from merlin_cl.networks.plain_resnet import PlainResNet


class Layer(NamedTuple):
    """A convolution without bias and the normalisation after it. Its weights' names begin with `name`."""

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int


class Block(NamedTuple):
    """Two convolutions beside a shortcut, which is the input itself unless the shape changes."""

    first: Layer
    second: Layer
    shortcut: Layer | None


@dataclass(frozen=True)
class ResNet(Network):
    """A first 3x3 convolution, a basic block a stage (each but the first halves the image), mean over pixels, linear.

    The paper's CIFAR classifier is `ResNet((3, 32, 32), 10)`: 31,307 weights, counting the running means and variances
    and the batch counters of BatchNorm as it does. They are the last ones of a row.
    """

    input_shape: tuple[int, ...]
    classes: int
    maps: tuple[int, ...] = (5, 10, 20, 40)

    def __post_init__(self) -> None:
        if len(self.input_shape) != 3:
            raise ValueError(f"a ResNet takes images [channels, height, width]; this input is {self.input_shape}")

    @property
    def stem(self) -> Layer:
        """The convolution that all begins with."""
        return Layer("stem", self.input_shape[0], self.maps[0], 3, 1)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One a stage."""
        found, before = [], self.maps[0]
        for stage, maps in enumerate(self.maps):
            name, stride = f"stages.{stage}", 1 if stage == 0 else 2
            first = Layer(f"{name}.first", before, maps, 3, stride)
            second = Layer(f"{name}.second", maps, maps, 3, 1)
            changes = stride != 1 or before != maps
            found.append(Block(first, second, Layer(f"{name}.shortcut", before, maps, 1, stride) if changes else None))
            before = maps
        return tuple(found)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All convolutions, in the order of `torch.nn`."""
        return (self.stem, *(layer for block in self.blocks for layer in block if layer is not None))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Convolution [in, height, width, out], gain and bias of each layer in turn, the head, then the statistics."""
        found: dict[str, tuple[int, ...]] = {}
        for name, inputs, outputs, kernel, _ in self.layers:
            found[f"{name}.convolution.weight"] = (inputs, kernel, kernel, outputs)
            found[f"{name}.norm.weight"] = found[f"{name}.norm.bias"] = (outputs,)
        found["head.weight"] = (self.maps[-1], self.classes)
        found["head.bias"] = (self.classes,)
        for layer in self.layers:
            found |= dict.fromkeys(_statistics(layer)[:2], (layer.outputs,))
            found[_statistics(layer)[2]] = ()
        return found

    @property
    def statistics(self) -> tuple[str, ...]:
        """Running mean, running variance and batch counter of every normalisation."""
        return tuple(name for layer in self.layers for name in _statistics(layer))

    @property
    def torch_names(self) -> tuple[str, ...]:
        """As in `state_dict()`: every normalisation's statistics right after its gain and bias."""
        found: list[str] = []
        for layer in self.layers:
            found += [f"{layer.name}.{part}" for part in ("convolution.weight", "norm.weight", "norm.bias")]
            found += _statistics(layer)
        return (*found, "head.weight", "head.bias")

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Convolutions and head uniform within one over the root of the fan-in, norms 1 and 0, as `torch.nn` has it."""
        flat = torch.zeros(members, self.size)
        for name, view in self.views(flat).items():
            if name.endswith("norm.weight") or name.endswith("running_var"):
                view.fill_(1)
            elif not name.startswith("head") and "norm" in name:
                continue
            else:
                fan_in = self.maps[-1] if name.startswith("head") else math.prod(view.shape[1:-1])
                view.copy_((torch.rand(view.shape, generator=generator) * 2 - 1) / math.sqrt(fan_in))
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Logits [M, N, classes] for x [M, N, channels, height, width]."""
        h = _layer(self.stem, weights, images(x), batch).relu_()
        for first, second, shortcut in self.blocks:
            inner = _layer(second, weights, _layer(first, weights, h, batch).relu_(), batch)
            past = h if shortcut is None else _layer(shortcut, weights, h, batch)
            h = inner.add_(past).relu_()
        features = h.mean(dim=(2, 3)).view(x.shape[1], -1, self.maps[-1])  # [N, M, maps]
        return linear(features.transpose(0, 1), weights["head.weight"], weights["head.bias"])

    def module(self, row: Tensor) -> nn.Module:
        """One member with `torch.nn.Conv2d` and `torch.nn.BatchNorm2d`, in training mode."""
        plain = PlainResNet(self.input_shape[0], self.classes, self.maps).to(row.dtype)
        views = self.views(row.detach().unsqueeze(0))
        plain.load_state_dict({name: outputs_first(views[name][0]) for name in self.torch_names})
        return plain


def images(x: Tensor) -> Tensor:
    """x [M, N, C, H, W] as [N, M*C, H, W], channels last; as [N, C, H, W] where all members have the same inputs."""
    if x.stride(0) == 0 or len(x) == 1:
        return x[0].contiguous(memory_format=torch.channels_last)
    return x.permute(1, 3, 4, 0, 2).flatten(3).permute(0, 3, 1, 2)


def _layer(layer: Layer, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None) -> Tensor:
    """Convolution and normalisation of x [N, M*C, H, W], or [N, C, H, W] where it is the same for all members."""
    kernel = weights[f"{layer.name}.convolution.weight"].value  # [M, in, height, width, out]
    learned = [weights[f"{layer.name}.norm.{part}"].value for part in ("weight", "bias")]
    norm = Norm(*learned, *(weights[name].value for name in _statistics(layer)))
    shift = None
    if batch is None:  # the running statistics are constants, and a convolution takes them in
        scale, shift = norm.scale_and_shift()
        kernel = kernel * scale[:, None, None, None, :]
        shift = shift.flatten()
    kernel = kernel.permute(0, 4, 2, 3, 1).flatten(0, 1).permute(0, 3, 1, 2)  # [M*out, in, h, w], channels last
    groups = x.shape[1] // layer.inputs
    y = functional.conv2d(x, kernel, shift, layer.stride, layer.kernel // 2, groups=groups)
    return y if batch is None else norm.by_batch(y, batch)


def _statistics(layer: Layer) -> list[str]:
    """Names of the statistics of the normalisation."""
    return [f"{layer.name}.norm.{part}" for part in ("running_mean", "running_var", "num_batches_tracked")]
