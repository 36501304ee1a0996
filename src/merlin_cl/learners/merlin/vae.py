"""The distribution over weights: a VAE on chunks of weights whose prior is learned for each task.

z ~ p(z | t) = N(W_mu t, W_sigma t),    chunk k ~ p(chunk | z, e_k), with e_k a learned embedding of the chunk's position
"""

import math
from collections.abc import Iterable
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from merlin_cl.learners.merlin.decoders import Decoder


class Gaussian(NamedTuple):
    """A diagonal Gaussian over latents; any leading shape."""

    mean: Tensor
    log_variance: Tensor

    def sample(self, generator: torch.Generator, *count: int) -> Tensor:
        """Draws, [*count, *shape], differentiable in mean and variance."""
        noise = torch.randn(*count, *self.mean.shape, generator=generator).to(self.mean)
        return self.mean + noise * (self.log_variance / 2).exp()

    def divergence(self, other: Self) -> Tensor:
        """KL(self || other), summed over the latent dimension: closed form."""
        ratio = self.log_variance - other.log_variance
        distance = (self.mean - other.mean).square() / other.log_variance.exp()
        return (ratio.exp() + distance - 1 - ratio).sum(dim=-1) / 2

    def detached(self) -> Self:
        """The same numbers, cut off from what computed them."""
        return type(self)(self.mean.detach().clone(), self.log_variance.detach().clone())

    @classmethod
    def mean_of(cls, gaussians: Iterable[Self]) -> Self:
        """The Gaussian with their average mean and average variance (Algorithm 3, line 2)."""
        means, log_variances = zip(*gaussians, strict=True)
        return cls(torch.stack(means).mean(dim=0), torch.stack(log_variances).exp().mean(dim=0).log())


class WeightVAE(nn.Module):
    """Encoder, decoder and the linear prior.

    With `per_model` one z stands for a whole model: the encoder pools over chunks and the decoder makes all chunks from it.
    Otherwise, as the paper's text has it, every chunk has its own.
    """

    def __init__(self, decoder: Decoder, size: int, hidden: int, latent: int, task_width: int, per_model: bool) -> None:
        super().__init__()
        self.per_model = per_model
        self.latent = latent
        self.encoder = nn.Linear(size, hidden)
        self.posterior_mean = nn.Linear(hidden, latent)
        self.posterior_log_variance = nn.Linear(hidden, latent)
        self.decoder = decoder
        self.prior_mean = nn.Linear(task_width, latent)
        self.prior_log_variance = nn.Linear(task_width, latent)

    def reset(self, generator: torch.Generator) -> None:
        """Draw all parameters of plain layers anew, as `torch.nn` draws them, but from `generator`."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                bound = 1 / math.sqrt(module.in_features)
                for parameter in module.parameters():
                    nn.init.uniform_(parameter, -bound, bound, generator=generator)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, generator=generator)

    def prior(self, task: Tensor) -> Gaussian:
        """p(z | t) for a task vector."""
        return Gaussian(self.prior_mean(task), self.prior_log_variance(task))

    def encode(self, chunks: Tensor) -> Gaussian:
        """q(z | psi) from scaled chunks [..., S, size]: [..., latent], or [..., S, latent] with a z for every chunk."""
        h = self.encoder(chunks).relu()  # [..., S, hidden]
        if self.per_model:
            h = h.mean(dim=-2)
        return Gaussian(self.posterior_mean(h), self.posterior_log_variance(h))

    def generate(self, z: Tensor, positions: Tensor | None = None) -> Tensor:
        """Chunks [M, S, size] in their own scale from one z a model, [M, latent]; all chunks if no positions are given."""
        if positions is None:
            positions = torch.arange(len(self.decoder.scale), device=z.device)
        if not self.per_model:
            z = z.unsqueeze(-2)
        chunks: Tensor = self.decoder(z, positions) * self.decoder.scale[positions]
        return chunks
