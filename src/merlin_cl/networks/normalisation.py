"""Batch normalisation of M members at once, each by its own statistics.

Activations are [N, M*C, H, W] with channels last in memory, so that per-channel statistics are per member and channel.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.networks.network import BatchUse

EPSILON = 1e-5


class Norm:
    """The weights of one normalisation, each [M, C] (the count of batches [M])."""

    def __init__(self, gain: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, batches: Tensor) -> None:
        self.gain, self.bias = gain, bias
        self.mean, self.variance, self.batches = mean, variance, batches

    def scale_and_shift(self) -> tuple[Tensor, Tensor]:
        """Evaluation: x * scale + shift, both [M, C], normalises x by the running statistics."""
        scale = self.gain * (self.variance + EPSILON).rsqrt()
        return scale, self.bias - self.mean * scale

    def by_batch(self, x: Tensor, batch: BatchUse) -> Tensor:
        """Training: x [N, M*C, H, W] normalised by its own statistics; the running ones are brought up to date."""
        if batch.shares is None:
            taking: Tensor | float = 1.0
            mean, variance = x.new_zeros(x.shape[1]), x.new_zeros(x.shape[1])  # momentum 1: overwritten by the batch's
            gain, bias = self.gain.flatten(), self.bias.flatten()
            y = functional.batch_norm(x, mean, variance, gain, bias, training=True, momentum=1.0, eps=EPSILON)
        else:
            taking = (batch.shares.sum(dim=1) > 0).to(x.dtype)  # [M]
            y, mean, variance = weighted(x, self.gain, self.bias, batch.shares)
        self._remember(mean.view_as(self.mean), variance.view_as(self.variance), taking, batch.momentum)
        return y

    def _remember(self, mean: Tensor, variance: Tensor, taking: Tensor | float, momentum: float) -> None:
        """Move the running statistics towards those of the batch; members that take no example keep theirs."""
        towards = taking.unsqueeze(1) * momentum if isinstance(taking, Tensor) else taking * momentum
        with torch.no_grad():
            self.mean += (mean - self.mean) * towards
            self.variance += (variance - self.variance) * towards
            self.batches += taking


def weighted(x: Tensor, gain: Tensor, bias: Tensor, shares: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x [N, M*C, H, W] normalised as if member m had example n shares[m, n] times, and the mean and variance, [M, C].

    The variance is the unbiased one, which running statistics take. A member without examples is normalised by all.
    """
    members, channels = gain.shape
    area = x.shape[2] * x.shape[3]
    total = shares.sum(dim=1)  # [M]
    shares = torch.where(total.unsqueeze(1) > 0, shares, 1.0)
    each = (shares / shares.sum(dim=1, keepdim=True)).t().view(-1, 1, members, 1)  # [N, 1, M, 1], sums to 1 over N
    flat = x.permute(0, 2, 3, 1).reshape(-1, area, members, channels)  # [N, H*W, M, C], a view
    y, mean, variance = _WeightedNorm.apply(flat, gain, bias, each)
    counted = (total * area).clamp(min=2).unsqueeze(1)
    unbiased = variance * (counted / (counted - 1))
    return y.view(x.shape[0], *x.shape[2:], -1).permute(0, 3, 1, 2), mean, unbiased


class _WeightedNorm(torch.autograd.Function):
    """Normalisation by weighted statistics: with v = sum_i e_i (x_i - m)^2 and m = sum_i e_i x_i over i = (n, pixel),

    dL/dx_i = gain / s * (g_i - e_i * sum_j g_j - e_i * z_i * sum_j g_j z_j), z = (x - m) / s and g = dL/dy.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor, bias: Tensor, each: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean = (x.mean(dim=1, keepdim=True) * each).sum(dim=(0, 1))  # [M, C]
        centred = x - mean
        variance = (centred.square().mean(dim=1, keepdim=True) * each).sum(dim=(0, 1))  # [M, C]
        inverse = (variance + EPSILON).rsqrt()  # 1 / s
        ctx.save_for_backward(centred, gain, inverse, each)
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(bias, centred, gain * inverse), mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        gradient = gradients[0]  # [N, H*W, M, C]
        centred, gain, inverse, each = ctx.saved_tensors
        of_bias = gradient.sum(dim=(0, 1))  # [M, C]
        of_gain = (gradient * centred).sum(dim=(0, 1)) * inverse
        scale = gain * inverse
        each = each / centred.shape[1]  # a pixel's weight
        of_x = torch.addcmul(-each * (scale * of_bias), centred, -each * (scale * inverse * of_gain))
        return of_x.addcmul_(gradient, scale), of_gain, of_bias, None
