"""Fully connected classifiers with ReLU, M at once: a layer is one batched product."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from merlin_cl.networks.network import Backward, BatchUse, Network, Weight

SHARED_FROM = 48
"""Examples from which the first layer of a bank is quicker as one product than as one a member."""

SPARSE_BELOW = 0.3
"""The share of inputs other than zero below which it pays to skip those that are zero."""
LOOKED_AT = 64
"""Examples, about, by which that share is judged."""


@dataclass(frozen=True)
class MLP(Network):
    """inputs - hidden - ... - classes. The paper's MNIST classifier is `MLP((1, 28, 28), 10)`: 89,610 weights."""

    input_shape: tuple[int, ...]
    classes: int
    hidden: tuple[int, ...] = (100, 100)

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of every layer, input and output included."""
        return (math.prod(self.input_shape), *self.hidden, self.classes)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Weight [in, out] and bias [out] of each layer in turn."""
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (fan_in, fan_out) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            shapes[f"{layer}.weight"] = (fan_in, fan_out)
            shapes[f"{layer}.bias"] = (fan_out,)
        return shapes

    @property
    def examples_at_once(self) -> int:
        """As many as leave the units of a layer in the processor's cache: half as much time as with all at once."""
        return 4000

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Uniform within one over the root of the fan-in, as `torch.nn.Linear` has it."""
        flat = torch.rand(members, self.size, generator=generator) * 2 - 1
        for name, view in self.views(flat).items():
            view /= math.sqrt(self.widths[int(name.split(".")[0])])
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Logits [M, N, classes] for x [M, N, *input_shape], the same in training and evaluation."""
        last = len(self.widths) - 2
        for layer in range(last + 1):
            weight, bias = weights[f"{layer}.weight"], weights[f"{layer}.bias"]
            if layer == 0 and len(x) > 1 and x.stride(0) == 0 and weight.gradient is None and _many(x):
                h = shared_linear(x[0].flatten(1), weight.value, bias.value)
            else:
                h = linear(h if layer else x.flatten(2), weight, bias)
            if layer < last:
                h = h.relu()
        return h

    def traced(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse) -> tuple[Tensor, Backward]:
        """See `Network`. The chain rule by hand: for one small network, autograd costs several times the arithmetic."""
        layers = [(weights[f"{layer}.weight"], weights[f"{layer}.bias"]) for layer in range(len(self.widths) - 1)]
        inputs: list[Tensor] = []
        with torch.no_grad():
            h = x.flatten(2)  # [M, N, inputs]
            for weight, bias in layers:
                inputs.append(h if not inputs else h.relu_())
                h = torch.baddbmm(bias.value.unsqueeze(1), inputs[-1], weight.value)

        @torch.no_grad()
        def backward(slope: Tensor) -> None:
            delta = slope  # [M, N, out]
            for at, (weight, bias) in reversed(list(enumerate(layers))):
                assert weight.gradient is not None
                assert bias.gradient is not None
                torch.bmm(inputs[at].transpose(1, 2), delta, out=weight.gradient)
                torch.sum(delta, dim=1, out=bias.gradient)
                if at > 0:
                    delta = torch.bmm(delta, weight.value.transpose(1, 2))
                    delta = torch.ops.aten.threshold_backward(delta, inputs[at], 0)

        return h, backward

    def group_gradients(self, row: Tensor, x: Tensor, sizes: list[int], slope: Callable[[Tensor], Tensor]) -> Tensor:
        """The gradients [k, P] of the losses of k groups of examples, one after another in x, by weights `row` [P].

        One pass serves all: they part only where the layers' inputs meet the gradients by their outputs. `slope` says how
        the loss changes with the logits [N, classes].
        """
        rows = row.new_empty(len(sizes), self.size)
        values, gradients = self.views(row.detach().unsqueeze(0)), self.views(rows)
        inputs: list[Tensor] = []
        with torch.no_grad():
            h = x.flatten(1)  # [N, inputs]
            for layer in range(len(self.widths) - 1):
                inputs.append(h.relu_() if inputs else h)
                h = torch.addmm(values[f"{layer}.bias"][0], inputs[-1], values[f"{layer}.weight"][0])
        delta = slope(h)  # [N, out]
        with torch.no_grad():
            for layer, h in reversed(list(enumerate(inputs))):
                into = zip(gradients[f"{layer}.weight"], gradients[f"{layer}.bias"], strict=True)
                for inside, d, (weight, bias) in zip(h.split(sizes), delta.split(sizes), into, strict=True):
                    torch.mm(inside.T, d, out=weight)
                    torch.sum(d, dim=0, out=bias)
                if layer > 0:
                    delta = torch.mm(delta, values[f"{layer}.weight"][0].T)
                    delta = torch.ops.aten.threshold_backward(delta, h, 0)
        return rows

    def with_outputs(self, count: int) -> "MLP":
        """The same with another number of outputs."""
        return replace(self, classes=count)

    def module(self, row: Tensor) -> nn.Module:
        """One member as `torch.nn.Sequential`."""
        layers: list[nn.Module] = [nn.Flatten()]
        views = self.views(row.unsqueeze(0))
        for layer, (fan_in, fan_out) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            plain = nn.Linear(fan_in, fan_out)
            with torch.no_grad():
                plain.weight.copy_(views[f"{layer}.weight"][0].t())
                plain.bias.copy_(views[f"{layer}.bias"][0])
            layers += [plain, nn.ReLU()]
        return nn.Sequential(*layers[:-1])


def _many(x: Tensor) -> bool:
    """Whether one large product of x [M, N, ...] is worth a copy of the weights; a program for any N has one way for all."""
    return torch.compiler.is_compiling() or x.shape[1] >= SHARED_FROM


def linear(x: Tensor, weight: Weight, bias: Weight) -> Tensor:
    """x [M, N, in] times weight [M, in, out] plus bias [M, out], each member with its own."""
    if weight.gradient is None or bias.gradient is None:
        return torch.baddbmm(bias.value.unsqueeze(1), x, weight.value)
    product: Tensor = _LinearIntoGradient.apply(x, weight.value, bias.value, weight.gradient, bias.gradient)
    return product


def shared_linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The same inputs x [N, in] through every member's layer, [M, N, out]: one large product instead of M small ones, or, where
    most inputs are zero as in digits, sums over the others."""
    if _mostly_zero(x) and not (weight.requires_grad and torch.is_grad_enabled()) and weight.dtype == torch.float32:
        return _sums_of_rows(x.contiguous(), weight, bias)
    members, fan_in, fan_out = weight.shape
    side_by_side = weight.transpose(0, 1).reshape(fan_in, members * fan_out)
    product = torch.addmm(bias.reshape(-1), x, side_by_side)  # [N, M * out]
    return product.view(-1, members, fan_out).transpose(0, 1)


class _LinearIntoGradient(torch.autograd.Function):
    """A linear layer whose backward pass writes the weights' gradients where the optimiser reads them.

    Training a bank is bound by memory traffic. Autograd would make each gradient elsewhere and then add it to a zeroed
    one: three more passes over as many numbers as there are weights.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, into_weight: Tensor, into_bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.into = into_weight, into_bias
        return torch.baddbmm(bias.unsqueeze(1), x, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, None, None, None, None]:
        (gradient,) = gradients  # [M, N, out]
        x, weight = ctx.saved_tensors
        into_weight, into_bias = ctx.into
        torch.bmm(x.transpose(1, 2), gradient, out=into_weight)
        torch.sum(gradient, dim=1, out=into_bias)
        to_input = torch.bmm(gradient, weight.transpose(1, 2)) if ctx.needs_input_grad[0] else None
        return to_input, None, None, None, None


def _mostly_zero(x: Tensor) -> bool:
    """Whether machine code that skips zeros can read inputs [N, in] and pays; a program that is exported asks no values."""
    if torch.compiler.is_compiling() or x.requires_grad or x.device.type != "cpu" or x.dtype != torch.float32:
        return False
    some = x[:: max(1, len(x) // LOOKED_AT)]  # counting in all of them takes a tenth of an answer's time
    return int(some.count_nonzero()) < SPARSE_BELOW * some.numel()


def _sums_of_rows(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """What `shared_linear` gives, but for rounding, from the rows of weight [M, in, out] whose inputs are not zero."""
    from merlin_cl.networks.compiled_mlp import answer, list_inputs  # brings numba

    count, widest = len(x), x.shape[1] + 8
    places, values = np.empty((count, widest), np.int64), np.empty((count, widest), np.float32)
    counts = np.empty(count, np.int64)
    list_inputs(x.numpy(), places, values, counts)
    outputs = x.new_empty(len(weight), count, weight.shape[2])
    for layer, its_bias, units in zip(weight.detach(), bias.detach(), outputs, strict=True):
        answer(layer.contiguous().numpy(), its_bias.contiguous().numpy(), places, values, counts, units.numpy())
    return outputs
