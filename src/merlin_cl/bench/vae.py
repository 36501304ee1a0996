"""Fitting the VAE of the paper's recipe one chunk at a time, compiled against torch."""

import torch

from merlin_cl.bench.measurement import Measurement, ProgressCallback
from merlin_cl.bench.timing import compare
from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.fitting import Fitting
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.phases import Phases
from merlin_cl.networks.mlp import MLP

TASKS = 5


def measure(told: ProgressCallback) -> Measurement:
    """Time one pass over one model's 299 chunks."""
    network, generator = MLP((1, 28, 28), 10), torch.Generator().manual_seed(0)
    distribution = WeightDistribution(network, MerlinPaperSettings(), TASKS, generator)
    fitting = Fitting(distribution, torch.eye(TASKS)[0], generator)
    chunks, latent = distribution.cut(network.initial(1, generator)), fitting.vae.sizes.latent  # [1, K, chunk]

    def by_torch() -> None:
        for position in range(chunks.shape[1]):
            vae, noise = fitting.differentiable(), torch.randn(latent, generator=generator)
            loss = vae.negative_bound(
                chunks[0, position], torch.tensor(position), vae.prior(torch.eye(TASKS)[0]), noise
            )
            (gradient,) = torch.autograd.grad(loss, vae.weights)
            fitting.step(gradient)

    told(0, 1)
    taken = compare({"torch": by_torch, "compiled": lambda: fitting.learn(chunks, 1, Phases())}, seconds=5, warm_up=1)
    ratio = taken["torch"] / taken["compiled"]
    return Measurement(
        "VAE on chunks",
        "the paper's size, 299 chunks of one model one at a time, one thread",
        f"the compiled VAE is {ratio:.0f} times as fast as torch",
        note=f"compiled is {ratio:.0f}x as fast as torch with autograd "
        f"({1e3 * taken['torch']:.0f} / {1e3 * taken['compiled']:.1f} ms a pass)",
    )
