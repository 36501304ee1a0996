"""Variational autoencoders of inputs, M at once: what a generative rival learns a distribution of inputs with."""

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.networks.mlp import linear
from merlin_cl.networks.network import BatchUse, Network, RowModule, Weight

Likelihood = Literal["bernoulli", "gaussian"]
LARGEST_LOG_VARIANCE = 20.0
"""Of a latent, whose prior has 0. Inputs far from 1 lead to larger ones, of which the exponential is no longer a number."""


class VAE(Network):
    """inputs - hidden - latent - hidden - inputs, with ReLU.

    An input is the data followed by standard normal noise, [D + latent]; an output the reconstruction followed by mean and log
    variance of the latent, [D + 2 * latent]. Reconstructions are logits of numbers from 0 to 1 (`bernoulli`), or means of
    normal distributions with a standard deviation of `noise` (`gaussian`).
    """

    def __init__(self, data: int, latent: int, hidden: int, likelihood: Likelihood, noise: float = 0.3) -> None:
        self.input_shape = (data + latent,)
        self.classes = data + 2 * latent
        self.data, self.latent, self.hidden = data, latent, hidden
        self.likelihood, self.noise = likelihood, noise

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Weight [in, out] and bias [out] of the four layers."""
        widths = {
            "encoder": (self.data, self.hidden),
            "latent": (self.hidden, 2 * self.latent),
            "decoder": (self.latent, self.hidden),
            "data": (self.hidden, self.data),
        }
        shapes: dict[str, tuple[int, ...]] = {}
        for name, (fan_in, fan_out) in widths.items():
            shapes |= {f"{name}.weight": (fan_in, fan_out), f"{name}.bias": (fan_out,)}
        return shapes

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Uniform within one over the root of the fan-in, as `torch.nn.Linear` has it."""
        flat = torch.rand(members, self.size, generator=generator) * 2 - 1
        for name, view in self.views(flat).items():
            view /= math.sqrt(self.shapes[name.replace("bias", "weight")][0])
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Reconstruction, mean and log variance, [M, N, D + 2 * latent], for data and noise x [M, N, D + latent]."""
        data, noise = x.split([self.data, self.latent], dim=2)
        hidden = _layer(weights, "encoder", data.contiguous()).relu()
        latent = _layer(weights, "latent", hidden)
        mean, log_variance = latent.chunk(2, dim=2)
        log_variance = log_variance.clamp(max=LARGEST_LOG_VARIANCE)
        z = mean + noise * (log_variance / 2).exp()
        return torch.cat([self._decoded(weights, z), mean, log_variance], dim=2)

    def _decoded(self, weights: Mapping[str, Weight], z: Tensor) -> Tensor:
        return _layer(weights, "data", _layer(weights, "decoder", z).relu())

    def bounds(self, outputs: Tensor, data: Tensor) -> Tensor:
        """Lower bounds [..., N] of the log-likelihood of data [..., N, D], from outputs [..., N, D + 2 * latent]."""
        reconstruction, mean, log_variance = outputs.split([self.data, self.latent, self.latent], dim=-1)
        if self.likelihood == "bernoulli":
            fit = -functional.binary_cross_entropy_with_logits(reconstruction, data, reduction="none")
        else:
            fit = -((data - reconstruction) / self.noise).square() / 2 - math.log(self.noise * math.sqrt(2 * math.pi))
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum(dim=-1) / 2
        bounds: Tensor = fit.sum(dim=-1) - divergence
        return bounds

    @torch.no_grad()
    def generate(self, flat: Tensor, z: Tensor) -> Tensor:
        """Data [M, N, D] for latents z [M, N, latent]: the means of what the decoder says."""
        means = self._decoded({name: Weight(value) for name, value in self.views(flat).items()}, z)
        return means.sigmoid() if self.likelihood == "bernoulli" else means

    def module(self, row: Tensor) -> nn.Module:
        """One member."""
        return RowModule(self, row)


def _layer(weights: Mapping[str, Weight], name: str, x: Tensor) -> Tensor:
    return linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])
