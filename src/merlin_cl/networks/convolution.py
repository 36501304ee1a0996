"""A convolution and its normalisation for M members at once, with a backward pass that writes gradients in place.

The products themselves are as fast as narrow channels allow: a vector holds channels of one member, so five maps fill
five of the sixteen lanes of AVX-512. What is left to save is memory traffic and calls: ReLU and the sum with a shortcut
are done in place, and each weight's gradient is written once, where the optimiser reads it.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.networks.network import Weight
from merlin_cl.networks.normalisation import Normalisation, Statistics, scale_and_shift

SAFE_WIDTH = 48
"""Of wider maps, a single member's 1x1 convolution takes its pixels before it is computed, instead of by a stride: for some sizes
(such as 5 maps of 56 x 56 pixels) the backward pass with a stride ends in a segmentation fault of oneDNN (torch 2.13)."""


class LayerWeights(NamedTuple):
    """A convolution [M, in, height, width, out], and the gain and bias, [M, out], of the normalisation after it."""

    kernel: Weight
    gain: Weight
    bias: Weight


def evaluated(x: Tensor, weights: LayerWeights, kept: Statistics, stride: int) -> Tensor:
    """x [N, M*in, H, W] (or [N, in, H, W], the same for all) convolved and normalised by running statistics, [M, out].

    They are constants, so the convolution takes them in: its kernel is scaled and it gets a bias.
    """
    scale, shift = scale_and_shift(weights.gain.value, weights.bias.value, kept)
    kernel = _grouped(weights.kernel.value * scale[:, None, None, None, :])
    padding, groups = kernel.shape[2] // 2, x.shape[1] // kernel.shape[1]
    return functional.conv2d(x, kernel, shift.flatten(), stride, padding, groups=groups)


def trained(
    x: Tensor, weights: LayerWeights, normalisation: Normalisation, stride: int, past: Tensor | None, relu: bool
) -> tuple[Tensor, Statistics]:
    """x convolved and normalised by the statistics of the batch, plus `past`, then ReLU; and these statistics, [M*out].

    Gradients of the weights go where `weights` says, not through autograd.
    """
    if (
        stride > 1
        and weights.kernel.value.shape[2] == 1
        and len(weights.kernel.value) == 1
        and x.shape[-1] > SAFE_WIDTH
    ):
        x, stride = x[:, :, ::stride, ::stride].contiguous(memory_format=torch.channels_last), 1
    values = (weight.value for weight in weights)
    y, *statistics = _Trained.apply(x, past, *values, weights, normalisation, stride, relu)
    return y, Statistics(*statistics)


class _Trained(torch.autograd.Function):
    """See `trained`. For one backward pass only: it overwrites what the forward pass left."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        past: Tensor | None,
        kernel: Tensor,
        gain: Tensor,
        bias: Tensor,
        weights: LayerWeights,
        normalisation: Normalisation,
        stride: int,
        relu: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        grouped = _grouped(kernel)
        ctx.geometry = [stride] * 2, [grouped.shape[2] // 2] * 2, [1, 1], False, [0, 0], x.shape[1] // grouped.shape[1]
        convolved = torch.convolution(x, grouped, None, *ctx.geometry).contiguous(memory_format=torch.channels_last)
        y, saved, statistics = normalisation.forward(convolved, gain.flatten(), bias.flatten())
        if past is not None:
            y += past
        if relu:
            y.relu_()
        ctx.save_for_backward(x, grouped, y if relu else None, *saved)
        ctx.weights, ctx.normalisation = weights, normalisation
        ctx.mark_non_differentiable(*statistics)
        ctx.set_materialize_grads(False)
        return y, *statistics

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, grouped, y, *saved = ctx.saved_tensors
        (g, *_) = gradients
        if y is not None:  # ReLU's gradient, over y: all that read y have had their backward passes
            g = torch.ops.aten.threshold_backward.grad_input(g, y, 0, grad_input=y)
        of_norm = ctx.normalisation.backward(g, tuple(saved))
        wanted = [ctx.needs_input_grad[0], True, False]
        of_x, of_kernel, _ = torch.ops.aten.convolution_backward(of_norm.x, x, grouped, None, *ctx.geometry, wanted)
        kernel, gain, bias = (weight.gradient for weight in ctx.weights)
        kernel.copy_(of_kernel.view(len(kernel), -1, *of_kernel.shape[1:]).permute(0, 2, 3, 4, 1))
        gain.copy_(of_norm.gain.view_as(gain))
        bias.copy_(of_norm.bias.view_as(bias))
        return of_x, g if ctx.needs_input_grad[1] else None, *[None] * 7


def _grouped(kernel: Tensor) -> Tensor:
    """[M, in, height, width, out] as [M*out, in, height, width], channels last."""
    return kernel.permute(0, 4, 2, 3, 1).flatten(0, 1).permute(0, 3, 1, 2)
