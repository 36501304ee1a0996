"""The weight distribution of section 3.1: a VAE on chunks of weights whose prior is learned for each task."""

import math
from collections.abc import Iterable
from typing import NamedTuple, Self

import torch
from torch import Tensor

from merlin_cl.learners.merlin_paper.recipes import Recipe

LEAST_VARIANCE = 1e-4
"""Of a prior. A smaller one is taken for this, and its gradient for what it would be without the floor, so that it can rise."""


class Gaussian(NamedTuple):
    """A diagonal Gaussian over latents; any leading shape."""

    mean: Tensor
    log_variance: Tensor

    def sample(self, generator: torch.Generator, *count: int) -> Tensor:
        """Draws, [*count, *shape]."""
        noise = torch.randn(*count, *self.mean.shape, generator=generator)
        return self.at(noise)

    def at(self, noise: Tensor) -> Tensor:
        """Where some noise leads: differentiable in mean and variance (the reparameterisation trick)."""
        return self.mean + noise * (self.log_variance / 2).exp()

    def divergence(self, other: Self) -> Tensor:
        """KL(self || other), summed over the latent: closed form."""
        ratio = self.log_variance - other.log_variance
        distance = (self.mean - other.mean).square() / other.log_variance.exp()
        return (ratio.exp() + distance - 1 - ratio).sum(dim=-1) / 2

    @classmethod
    def average(cls, gaussians: Iterable[Self], variance: float | None = None) -> Self:
        """The Gaussian with the mean of their means and the mean of their variances, or with a variance that is given."""
        means, log_variances = (torch.stack(parts) for parts in zip(*gaussians, strict=True))
        together = log_variances.exp().mean(dim=0)
        return cls(means.mean(dim=0), (together if variance is None else torch.full_like(together, variance)).log())


class Sizes(NamedTuple):
    """Of a VAE."""

    chunks: int  # K, of a model
    chunk: int
    hidden: int
    latent: int
    tasks: int


class WeightVAE:
    """Encoder q(z | chunk), decoder p(chunk | z, its place) and prior p(z | t).

    All its weights are one flat vector [D], so that an optimiser is a few lines; the layers are views of it.
    """

    def __init__(self, sizes: Sizes, recipe: Recipe, weights: Tensor | None = None) -> None:
        self.sizes = sizes
        self.recipe = recipe
        self.weights = torch.zeros(self.parameters) if weights is None else weights
        self._layers = self.views(self.weights)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every layer's weights, as `torch.nn.Linear` has them, in the order of the flat vector."""
        chunks, chunk, hidden, latent, tasks = self.sizes
        return {
            "encoder_weight": (hidden, chunk),
            "encoder_bias": (hidden,),
            "mean_weight": (latent, hidden),
            "mean_bias": (latent,),
            "log_variance_weight": (latent, hidden),
            "log_variance_bias": (latent,),
            "embedding": (chunks, latent),
            "decoder_weight": (hidden, 2 * latent),
            "decoder_bias": (hidden,),
            "output_weight": (chunk, hidden),
            "output_bias": (chunk,),
            "prior_mean_weight": (latent, tasks),
            "prior_mean_bias": (latent,),
            "prior_variance_weight": (latent, tasks),
            "prior_variance_bias": (latent,),
        }

    @property
    def parameters(self) -> int:
        """D, the size that the paper reports."""
        return sum(map(math.prod, self.shapes.values()))

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """A vector [D] layer by layer."""
        parts = flat.split([math.prod(shape) for shape in self.shapes.values()])
        return {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def over(self, weights: Tensor) -> "WeightVAE":
        """The same VAE with other weights [D]."""
        return WeightVAE(self.sizes, self.recipe, weights)

    def draw(self, generator: torch.Generator) -> None:
        """Fresh weights, as `torch.nn` draws them; a variance that is linear in the task starts at one for every task."""
        for name, layer in self._layers.items():
            if name == "embedding":
                layer.normal_(generator=generator).mul_(not self.recipe.zero_embedding)
                continue
            fan_in = self.shapes[f"{name.removesuffix('_bias').removesuffix('_weight')}_weight"][1]
            layer.uniform_(-1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in), generator=generator)
        if not self.recipe.log_variance:
            self._layers["prior_variance_weight"].zero_()
            self._layers["prior_variance_bias"].fill_(1)

    def encode(self, chunks: Tensor) -> Gaussian:
        """q(z | chunk), [..., latent], for chunks [..., chunk]."""
        h = self._linear("encoder", chunks).relu()
        return Gaussian(self._linear("mean", h), self._linear("log_variance", h))

    def decode(self, z: Tensor, positions: Tensor, kept: Tensor | None = None) -> Tensor:
        """The mean of p(chunk | z, its place), [..., chunk], for latents z [..., latent] and the places [...] of chunks."""
        places, z = torch.broadcast_tensors(self._layers["embedding"][positions], z)
        u = self._linear("decoder", torch.cat([places, z], dim=-1))
        u = u if kept is None else u * kept
        return self._linear("output", u.tanh()).tanh() if self.recipe.tanh else self._linear("output", u.relu())

    def generate(self, z: Tensor, kept: Tensor | None = None) -> Tensor:
        """All chunks of models, [M, K, chunk], from one z each, [M, latent]."""
        return self.decode(z.unsqueeze(1), torch.arange(self.sizes.chunks), kept)

    def prior(self, task: Tensor) -> Gaussian:
        """p(z | t) = N(W_mu t, W_Sigma t) for a task vector (equation 3)."""
        variance = self._linear("prior_variance", task)
        if self.recipe.log_variance:
            return Gaussian(self._linear("prior_mean", task), variance)
        lifted = variance.detach().clamp(min=LEAST_VARIANCE) + (variance - variance.detach())
        return Gaussian(self._linear("prior_mean", task), lifted.log())

    def negative_bound(self, chunks: Tensor, positions: Tensor, prior: Gaussian, noise: Tensor) -> Tensor:
        """Minus the lower bound of equation 2, [...], for chunks [..., chunk] at some places [...] and noise [..., latent]."""
        posterior = self.encode(chunks)
        error = (self.decode(posterior.at(noise), positions) - chunks).square().sum(dim=-1)
        return self.error_weight * error + posterior.divergence(prior)

    @property
    def error_weight(self) -> float:
        """What the sum of a chunk's squared errors counts beside the KL divergence."""
        return 1 / self.sizes.chunk if self.recipe.mean_square else 0.5

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x, self._layers[f"{name}_weight"], self._layers[f"{name}_bias"])
