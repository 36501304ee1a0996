"""Narrow residual networks with batch normalisation, M at once.

On a CPU they run as machine code of their own, see `planes`. Elsewhere, and where autograd is to look through, a convolution of
all members is a grouped one of torch's: activations are [N, M*C, H, W], C channels a member, with channels last in memory.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.networks.convolution import LayerWeights, evaluated, trained
from merlin_cl.networks.memory import keep_freed_memory
from merlin_cl.networks.mlp import linear
from merlin_cl.networks.network import Backward, BatchUse, Network, Weight, outputs_first
from merlin_cl.networks.normalisation import ByShares, EveryExample, Statistics
from merlin_cl.networks.plain_resnet import PlainResNet

if TYPE_CHECKING:
    from merlin_cl.networks.planes.bank import TrainedBank


class Layer(NamedTuple):
    """A convolution without bias and the normalisation after it. Its weights' names begin with `name`."""

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int

    @property
    def weights(self) -> tuple[str, str, str]:
        """Names of the kernel, gain and bias."""
        return f"{self.name}.convolution.weight", f"{self.name}.norm.weight", f"{self.name}.norm.bias"

    def of(self, weights: Mapping[str, Weight]) -> LayerWeights:
        """Kernel, gain and bias."""
        return LayerWeights(*(weights[name] for name in self.weights))


class Block(NamedTuple):
    """Two convolutions beside a shortcut, which is the input itself unless the shape changes."""

    first: Layer
    second: Layer
    shortcut: Layer | None


class RunLayer(Protocol):
    """A layer's convolution and normalisation of h, plus `past`, then ReLU."""

    def __call__(self, layer: Layer, h: Tensor, past: Tensor | None = None, relu: bool = True) -> Tensor:
        """[N, M*inputs, H, W] (or [N, inputs, H, W], the same for all members) to [N, M*outputs, H, W]."""


@dataclass(frozen=True)
class ResNet(Network):
    """A first 3x3 convolution, stages of basic blocks (each stage but the first halves the image), mean over pixels, linear.

    The paper's CIFAR classifier is `ResNet((3, 32, 32), 10)`: 31,307 weights, counting the running means and variances
    and the batch counters of BatchNorm as it does. They are the last ones of a row. Its rivals' backbone is `reduced_resnet18`.
    """

    input_shape: tuple[int, ...]
    classes: int
    maps: tuple[int, ...] = (5, 10, 20, 40)
    blocks_per_stage: int = 1

    def __post_init__(self) -> None:
        if len(self.input_shape) != 3:
            raise ValueError(f"a ResNet takes images [channels, height, width]; this input is {self.input_shape}")

    @property
    def stem(self) -> Layer:
        """The convolution that all begins with."""
        return Layer("stem", self.input_shape[0], self.maps[0], 3, 1)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Those of all stages, in order; the first of a stage halves the image."""
        blocks: list[Block] = []
        before = self.maps[0]
        for stage, maps in enumerate(self.maps):
            for place in range(self.blocks_per_stage):
                name, stride = f"blocks.{len(blocks)}", 2 if stage > 0 and place == 0 else 1
                first = Layer(f"{name}.first", before, maps, 3, stride)
                second = Layer(f"{name}.second", maps, maps, 3, 1)
                changes = stride != 1 or before != maps
                shortcut = Layer(f"{name}.shortcut", before, maps, 1, stride) if changes else None
                blocks.append(Block(first, second, shortcut))
                before = maps
        return tuple(blocks)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """All convolutions, in the order of `torch.nn`."""
        return (self.stem, *(layer for block in self.blocks for layer in block if layer is not None))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Convolution [in, height, width, out], gain and bias of each layer in turn, the head, then the statistics."""
        shapes: dict[str, tuple[int, ...]] = {}
        for layer in self.layers:
            kernel, gain, bias = layer.weights
            shapes[kernel] = (layer.inputs, layer.kernel, layer.kernel, layer.outputs)
            shapes[gain] = shapes[bias] = (layer.outputs,)
        shapes["head.weight"] = (self.maps[-1], self.classes)
        shapes["head.bias"] = (self.classes,)
        shapes["means"] = shapes["variances"] = (sum(layer.outputs for layer in self.layers),)
        shapes["batches"] = (len(self.layers),)
        return shapes

    @property
    def statistics(self) -> tuple[str, ...]:
        """Running means, running variances and batch counters of all normalisations."""
        return ("means", "variances", "batches")

    def torch_views(self, flat: Tensor) -> dict[str, Tensor]:
        """As in `state_dict()`: every normalisation's statistics right after its gain and bias."""
        views, outputs = self.views(flat), [layer.outputs for layer in self.layers]
        kept = [views["means"].split(outputs, 1), views["variances"].split(outputs, 1), views["batches"].unbind(1)]
        torch_views: dict[str, Tensor] = {}
        for layer, mean, variance, batches in zip(self.layers, *kept, strict=True):
            torch_views |= {name: views[name] for name in layer.weights}
            torch_views[f"{layer.name}.norm.running_mean"] = mean
            torch_views[f"{layer.name}.norm.running_var"] = variance
            torch_views[f"{layer.name}.norm.num_batches_tracked"] = batches
        return torch_views | {name: views[name] for name in ("head.weight", "head.bias")}

    @property
    def examples_at_once(self) -> int:
        """As many as make the first stage's maps 32 MB."""
        return 2**23 // (self.maps[0] * math.prod(self.input_shape[1:])) or 1

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Convolutions and head uniform within one over the root of the fan-in, norms 1 and 0, as `torch.nn` has it."""
        flat = torch.zeros(members, self.size)
        views = self.views(flat)
        views["variances"].fill_(1)
        for layer in self.layers:
            kernel, gain, _ = (views[name] for name in layer.weights)
            _fill_uniformly(kernel, layer.inputs * layer.kernel**2, generator)
            gain.fill_(1)
        for name in ("head.weight", "head.bias"):
            _fill_uniformly(views[name], self.maps[-1], generator)
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Logits [M, N, classes] for x [M, N, channels, height, width]. On a CPU, training has no graph; see `traced`."""
        keep_freed_memory()
        if batch is not None and _compiled(x):
            with torch.no_grad():
                (features,) = self._trained(weights, x, batch, self._last).readings
        else:
            (features,) = self._read(weights, x, batch, self._last)
        return linear(features, weights["head.weight"], weights["head.bias"])

    def traced(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse) -> tuple[Tensor, Backward]:
        """See `Network`. On a CPU by machine code and the chain rule by hand."""
        if not _compiled(x):
            return super().traced(weights, x, batch)
        keep_freed_memory()
        head, bias = weights["head.weight"], weights["head.bias"]
        with torch.no_grad():
            trained = self._trained(weights, x, batch, self._last)
            (features,) = trained.readings
            logits = torch.baddbmm(bias.value.unsqueeze(1), features, head.value)

        @torch.no_grad()
        def backward(slope: Tensor) -> None:
            assert head.gradient is not None
            assert bias.gradient is not None
            torch.bmm(features.transpose(1, 2), slope, out=head.gradient)
            torch.sum(slope, dim=1, out=bias.gradient)
            trained.backward([torch.bmm(slope, head.value.transpose(1, 2))])

        return logits, backward

    def stages(
        self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None, grids: Sequence[int]
    ) -> list[Tensor]:
        """Every stage's maps, means over grid times grid windows, [M, N, maps * grid^2] each; a loss of them leads back."""
        keep_freed_memory()
        between = [0] * (self.blocks_per_stage - 1)
        of_blocks = [number for grid in grids for number in (*between, grid)]
        if batch is None or not _compiled(x):
            return self._read(weights, x, batch, of_blocks)
        learned = weights[self.stem.weights[0]].value
        return list(_Stages.apply(learned, self, weights, x, batch, of_blocks))

    @property
    def _last(self) -> list[int]:
        """Where features are read: after the last block, over all pixels."""
        return [*[0] * (len(self.blocks) - 1), 1]

    def _trained(
        self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse, grids: Sequence[int]
    ) -> "TrainedBank":
        """A pass forward that leaves its mark on the running statistics."""
        from merlin_cl.networks.planes.bank import TrainedBank

        trained = TrainedBank(self, weights, x, batch.shares, grids)
        self._remember(weights, batch, *trained.statistics())
        return trained

    def _read(
        self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None, grids: Sequence[int]
    ) -> list[Tensor]:
        """The maps of the blocks that `grids` has a number for, as in `stages`, with a graph where one is wanted."""
        if batch is None and _compiled(x) and not _differentiable(weights, x):
            from merlin_cl.networks.planes.bank import evaluated as evaluated_bank

            return evaluated_bank(self, weights, x, grids)
        blocks = zip(self._by_library(weights, x, batch), grids, strict=True)
        pooled = [functional.adaptive_avg_pool2d(h, grid) for h, grid in blocks if grid]
        return [h.unflatten(1, (len(x), -1)).flatten(2).transpose(0, 1) for h in pooled]

    def _by_library(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None) -> list[Tensor]:
        """What every block gives, [N, M*maps, height, width], by torch's own convolutions."""
        statistics: dict[Layer, Statistics] = {}
        run = self._evaluation(weights) if batch is None else self._training(weights, batch, statistics)
        h = run(self.stem, _images(x))
        after: list[Tensor] = []
        for first, second, shortcut in self.blocks:
            past = h if shortcut is None else run(shortcut, h, relu=False)
            h = run(second, run(first, h), past)
            after.append(h)
        if batch is not None:
            of_layers = zip(*(statistics[layer] for layer in self.layers), strict=True)
            self._remember(
                weights, batch, *(torch.cat([part.view(len(x), -1) for part in parts], dim=1) for parts in of_layers)
            )
        return after

    def _evaluation(self, weights: Mapping[str, Weight]) -> RunLayer:
        """A layer by running statistics."""
        outputs = [layer.outputs for layer in self.layers]
        means, variances = (weights[name].value.split(outputs, dim=1) for name in ("means", "variances"))
        kept = {layer: Statistics(*both) for layer, *both in zip(self.layers, means, variances, strict=True)}

        def run(layer: Layer, h: Tensor, past: Tensor | None = None, relu: bool = True) -> Tensor:
            y = evaluated(h, layer.of(weights), kept[layer], layer.stride)
            y = y if past is None else y.add_(past)
            return y.relu_() if relu else y

        return run

    def _training(
        self, weights: Mapping[str, Weight], batch: BatchUse, statistics: dict[Layer, Statistics]
    ) -> RunLayer:
        """A layer by the statistics of the batch, which it leaves in `statistics`."""
        normalisation = EveryExample() if batch.shares is None else ByShares(batch.shares)

        def run(layer: Layer, h: Tensor, past: Tensor | None = None, relu: bool = True) -> Tensor:
            y, statistics[layer] = trained(h, layer.of(weights), normalisation, layer.stride, past, relu)
            return y

        return run

    def _remember(self, weights: Mapping[str, Weight], batch: BatchUse, means: Tensor, variances: Tensor) -> None:
        """Move the running statistics towards those of the batch, [M, all outputs]; members that take no example keep theirs."""
        kept_means, kept_variances, batches = (weights[name].value for name in self.statistics)
        taking = 1 if batch.shares is None else batch.shares.any(dim=1, keepdim=True).to(means.dtype)
        kept_means.lerp_(means, batch.momentum * taking)
        kept_variances.lerp_(variances, batch.momentum * taking)
        batches += taking

    def with_outputs(self, count: int) -> "ResNet":
        """The same with another number of outputs."""
        return replace(self, classes=count)

    def module(self, row: Tensor) -> nn.Module:
        """One member with `torch.nn.Conv2d` and `torch.nn.BatchNorm2d`, in training mode."""
        plain = PlainResNet(self.input_shape[0], self.classes, self.maps, self.blocks_per_stage).to(row.dtype)
        views = self.torch_views(row.detach().unsqueeze(0))
        plain.load_state_dict({name: outputs_first(view[0]) for name, view in views.items()})
        return plain


class _Stages(torch.autograd.Function):
    """See `ResNet.stages`: by machine code. The backward pass writes the gradients of weights where they are wanted."""

    @staticmethod
    def forward(
        ctx: Any,
        learned: Tensor,
        network: ResNet,
        weights: Mapping[str, Weight],
        x: Tensor,
        batch: BatchUse,
        grids: Sequence[int],
    ) -> tuple[Tensor, ...]:
        ctx.trained = network._trained(weights, x, batch, grids)
        return tuple(stage.detach() for stage in ctx.trained.readings)  # outputs know ctx, which must not know them

    @staticmethod
    def backward(ctx: Any, *of_readings: Tensor) -> tuple[None, ...]:
        ctx.trained.backward([slope.contiguous() for slope in of_readings])
        return (None,) * 6


def reduced_resnet18(input_shape: tuple[int, ...], classes: int) -> ResNet:
    """ResNet-18 with maps as few as the paper's rivals have: two blocks a stage, 10 to 80 maps.

    The paper says 272,260 parameters and no more; no number of outputs gives exactly that. This one has 274,980 that are learned
    with ten outputs on colour images.

    >>> reduced_resnet18((3, 32, 32), 10).learned
    274980
    """
    return ResNet(input_shape, classes, maps=(10, 20, 40, 80), blocks_per_stage=2)


def _compiled(x: Tensor) -> bool:
    """Whether machine code serves: on a CPU, unless the network is being turned into another kind of program."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def _differentiable(weights: Mapping[str, Weight], x: Tensor) -> bool:
    """Whether autograd is to find its way back from the answers."""
    tensors = [x, *(weight.value for weight in weights.values())]
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _images(x: Tensor) -> Tensor:
    """x [M, N, C, H, W] as [N, M*C, H, W], channels last; as [N, C, H, W] where all members have the same inputs."""
    if x.stride(0) == 0 or len(x) == 1:
        return x[0].contiguous(memory_format=torch.channels_last)
    return x.permute(1, 3, 4, 0, 2).flatten(3).permute(0, 3, 1, 2)


def _fill_uniformly(weight: Tensor, fan_in: int, generator: torch.Generator) -> None:
    """Between minus and plus one over the root of the fan-in."""
    weight.copy_((torch.rand(weight.shape, generator=generator) * 2 - 1) / math.sqrt(fan_in))
