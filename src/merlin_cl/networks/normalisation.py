"""Batch normalisation of M members at once, each by the statistics of its own examples: forward and backward.

Activations are [N, M*C, H, W] with channels last in memory; gain, bias and statistics are [M*C].
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

EPSILON = 1e-5


class Statistics(NamedTuple):
    """Of one normalisation; the variance is the unbiased one."""

    mean: Tensor
    variance: Tensor


class Normalised(NamedTuple):
    """What a normalisation gives: its output, what its backward pass needs, and the statistics of the batch."""

    y: Tensor
    saved: tuple[Tensor, ...]
    statistics: Statistics


class NormalisationGradients(NamedTuple):
    """Of the loss, by the input, gain and bias of a normalisation."""

    x: Tensor
    gain: Tensor
    bias: Tensor


class Normalisation(Protocol):
    """Normalisation by the statistics of the batch, as in training."""

    def forward(self, x: Tensor, gain: Tensor, bias: Tensor) -> Normalised:
        """x (channels last) normalised, times gain, plus bias. May overwrite x."""

    def backward(self, gradient: Tensor, saved: tuple[Tensor, ...]) -> NormalisationGradients:
        """From the gradient by y."""


class EveryExample:
    """Every member takes every example once: torch's own normalisation, over M*C channels."""

    def forward(self, x: Tensor, gain: Tensor, bias: Tensor) -> Normalised:
        """See `Normalisation`."""
        mean, variance = x.new_zeros(2, x.shape[1])  # a momentum of 1 has them overwritten
        y, centre, inverse = torch.native_batch_norm(x, gain, bias, mean, variance, True, 1.0, EPSILON)
        if x.numel() == x.shape[1]:
            variance.zero_()  # a single value has no unbiased variance
        return Normalised(y, (x, gain, centre, inverse), Statistics(mean, variance))

    def backward(self, gradient: Tensor, saved: tuple[Tensor, ...]) -> NormalisationGradients:
        """See `Normalisation`."""
        x, gain, centre, inverse = saved
        derive = torch.ops.aten.native_batch_norm_backward
        return NormalisationGradients(
            *derive(gradient, x, gain, None, None, centre, inverse, True, EPSILON, [True, True, True]),
        )


class ByShares:
    """Member m takes example n `shares[m, n]` times, [M, N]: statistics are weighted.

    With m = sum_i e_i x_i and s^2 = sum_i e_i (x_i - m)^2 over i = (example, pixel), z = (x - m) / s and g = dL/dy,
    dL/dx_i = gain / s * (g_i - e_i * sum_j g_j - e_i * z_i * sum_j g_j z_j).
    A member that takes no example is normalised by all of them.
    """

    def __init__(self, shares: Tensor) -> None:
        total = shares.sum(dim=1, keepdim=True)  # [M, 1]
        weights = torch.where(total > 0, shares, 1.0)
        self._each = (weights / weights.sum(dim=1, keepdim=True)).t().unsqueeze(2)  # [N, M, 1], sums to 1 over N
        self._total = total

    def forward(self, x: Tensor, gain: Tensor, bias: Tensor) -> Normalised:
        """See `Normalisation`."""
        pixels = _pixels(x)
        mean = self._weigh(pixels.mean(dim=1))
        centred = pixels.sub_(mean)
        y = centred.square()
        variance = self._weigh(y.mean(dim=1))
        inverse = (variance + EPSILON).rsqrt()  # 1 / s
        torch.addcmul(bias, centred, gain * inverse, out=y)
        counted = (self._total * centred.shape[1]).clamp(min=2)  # [M, 1]; a single value has no unbiased variance
        unbiased = variance.view(len(counted), -1) * (counted / (counted - 1))
        return Normalised(_like(x, y), (x, gain, inverse), Statistics(mean, unbiased.flatten()))

    def backward(self, gradient: Tensor, saved: tuple[Tensor, ...]) -> NormalisationGradients:
        """See `Normalisation`."""
        x, gain, inverse = saved
        centred, g = _pixels(x), _pixels(gradient)
        product = g * centred
        of_bias = g.sum(dim=(0, 1))
        of_gain = product.sum(dim=(0, 1)) * inverse
        scale = gain * inverse
        each = self._each / -centred.shape[1]  # minus e, [N, M, 1]
        offset = self._spread(each, scale * of_bias)
        slope = self._spread(each, scale * inverse * of_gain)
        torch.addcmul(offset, centred, slope, out=product).addcmul_(g, scale)
        return NormalisationGradients(_like(x, product), of_gain, of_bias)

    def _weigh(self, of_examples: Tensor) -> Tensor:
        """The weighted mean, [M*C], of one number for each example, [N, M*C]."""
        return (of_examples.view(*self._each.shape[:2], -1) * self._each).sum(dim=0).flatten()

    def _spread(self, each: Tensor, of_channels: Tensor) -> Tensor:
        """each [N, M, 1] times of_channels [M*C], as [N, 1, M*C]."""
        return (each * of_channels.view(each.shape[1], -1)).flatten(1).unsqueeze(1)


def scale_and_shift(gain: Tensor, bias: Tensor, kept: Statistics) -> tuple[Tensor, Tensor]:
    """Normalisation by running statistics, as in evaluation: x * scale + shift. (A sampled variance may be negative.)"""
    scale = gain * (kept.variance.clamp(min=0) + EPSILON).rsqrt()
    return scale, bias - kept.mean * scale


def _pixels(x: Tensor) -> Tensor:
    """[N, M*C, H, W] as [N, H*W, M*C]; a view where channels are last in memory."""
    return x.permute(0, 2, 3, 1).flatten(1, 2)


def _like(x: Tensor, pixels: Tensor) -> Tensor:
    """[N, H*W, M*C] in the shape and layout of x."""
    return pixels.view(x.shape[0], x.shape[2], x.shape[3], x.shape[1]).permute(0, 3, 1, 2)
