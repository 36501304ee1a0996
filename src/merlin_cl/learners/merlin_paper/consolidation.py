"""Algorithm 2: after a new task was learned, encoder and decoder are refined on generated models of every task seen so far."""

import torch

from merlin_cl.learners.merlin_paper.fitting import Fitting
from merlin_cl.learners.merlin_paper.vae import Gaussian
from merlin_cl.learners.phases import Phases


def consolidate(
    fitting: Fitting, priors: list[Gaussian], pseudo_models: int, generator: torch.Generator, phases: Phases
) -> None:
    """Algorithm 2 as printed. The priors P_1 .. P_k are fixed; the optimiser is that of line 3 of Algorithm 1."""
    positions = torch.arange(fitting.vae.sizes.chunks)
    for prior in phases.steps(
        "consolidate", priors, len(priors)
    ):  # line 1: for j = 1 to k; line 2: mu_j, Sigma_j <- P_j
        z = prior.sample(generator, pseudo_models)  # line 3, a z for each of the P pseudo-models
        psi = fitting.vae.generate(z)  # [P, K, chunk]
        noise = torch.randn(*psi.shape[:2], z.shape[1], generator=generator)
        vae = fitting.differentiable()
        loss = vae.negative_bound(psi, positions, prior, noise).sum()  # line 4
        (gradient,) = torch.autograd.grad(loss, vae.weights)  # line 5
        fitting.step(gradient)  # line 6


def consolidate_by_chunks(fitting: Fitting, priors: list[Gaussian], generator: torch.Generator, phases: Phases) -> None:
    """Consolidation as the authors' code has it: one pseudo-model of each task, a step a chunk, under the present task's prior,
    which goes on learning. The code takes the best of P by their accuracy on test data; here it is the first that is drawn."""
    for prior in phases.steps("consolidate", priors, len(priors)):
        z = prior.sample(generator, 1)
        psi = fitting.vae.generate(z, fitting.kept(fitting.vae.sizes.chunks, 1).squeeze(1))  # [1, K, chunk]
        fitting.learn(psi, epochs=1, phases=Phases())
