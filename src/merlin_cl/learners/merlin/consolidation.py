"""Learning a task's weight distribution while keeping those of earlier tasks: section 3.1 of the paper and Algorithm 2."""

import copy
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.vae import Gaussian, WeightVAE
from merlin_cl.learners.phases import Phases

Auxiliary = Callable[[Tensor], Tensor]
"""The classification loss of generated models, from their chunks [M, K, size]."""
AUXILIARY_MODELS = 2
"""Models generated for each evaluation of the auxiliary loss."""


def negative_elbo(
    vae: WeightVAE, chunks: Tensor, positions: Tensor, prior: Gaussian, kl_weight: float, generator: torch.Generator
) -> Tensor:
    """Reconstruction error plus KL(q(z | psi) || p(z | t)), a weight; [M], or [M, S] with a z for every chunk.

    `chunks` [M, S, size] are those at `positions` [S]: all chunks of a model or a sample that stands for them.
    """
    scaled = chunks / vae.decoder.scale[positions]
    posterior = vae.encode(scaled)
    decoded: Tensor = vae.decoder(posterior.sample(generator), positions)
    squares = (decoded - scaled).square().mean(dim=-1) / 2  # [M, S]
    size = chunks.shape[-1]
    if vae.per_model:
        squares = squares.mean(dim=-1)
        size *= len(vae.decoder.scale)
    return squares + kl_weight * posterior.divergence(prior) / size


def learn_jointly(
    distribution: WeightDistribution,
    psi: Tensor,
    task: Tensor,
    settings: MerlinSettings,
    generator: torch.Generator,
    phases: Phases,
    auxiliary: Auxiliary | None = None,
) -> None:
    """Fit the base models psi [B, P] of a new task and replay the old tasks in the same steps.

    A frozen snapshot of the decoder, taken before the new task, generates the old tasks' pseudo-models; their priors stay
    fixed. Each step looks at a few models and a few of their chunks, every task with the same weight. Where the new task
    found a base of its own, decoder and prior are at their optimum already and only the encoder learns.
    """
    vae, base = distribution.vae, distribution.code.cut(psi)  # [B, K, size]
    snapshot = copy.deepcopy(vae)
    old = distribution.priors if settings.consolidation == "joint" else []

    @torch.no_grad()
    def pseudo_models(positions: Tensor | None = None) -> list[Tensor]:
        return [snapshot.generate(prior.sample(generator, settings.pseudo_models), positions) for prior in old]

    if settings.scale_chunks:
        vae.decoder.rescale(torch.cat([base, *pseudo_models()]))
    own_base = distribution.make_room(base, task)
    # The auxiliary loss asks for more than the best approximation, so with it decoder and prior go on learning.
    settled = [vae.decoder, vae.prior_mean, vae.prior_log_variance] if own_base and auxiliary is None else []
    optimiser = _optimiser(_parameters(vae, settled), settings)
    count, chunks = min(settings.vae_batch, len(base)), settings.vae_chunks or len(vae.decoder.scale)
    phase = "consolidate" if old else "vae"
    for step in phases.steps(phase, range(settings.vae_steps), settings.vae_steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.vae_rate * (1 - step / settings.vae_steps)
        chosen = torch.randperm(len(base), generator=generator)[:count].to(base.device)
        positions = torch.randperm(len(vae.decoder.scale), generator=generator)[:chunks].to(base.device)
        groups = [base[chosen[:, None], positions], *pseudo_models(positions)]
        priors = [distribution.prior(task), *old]
        losses = negative_elbo(
            vae, torch.cat(groups), positions, _one_each(priors, groups, vae.per_model), settings.kl_weight, generator
        )
        loss = torch.stack([part.mean() for part in losses.split([len(group) for group in groups])]).sum()
        phases.note_loss("negative_elbo", float(loss.detach()))
        if auxiliary is not None:
            z = distribution.prior(task).sample(generator, AUXILIARY_MODELS)
            added = settings.classification_loss * auxiliary(vae.generate(z))
            phases.note_loss("classification", float(added.detach()))
            loss = loss + added
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def learn_by_chunks(
    distribution: WeightDistribution,
    psi: Tensor,
    task: Tensor,
    settings: MerlinSettings,
    generator: torch.Generator,
    phases: Phases,
    auxiliary: Auxiliary | None = None,
) -> None:
    """Fit the base models psi [B, P] as the paper has it: AdaGrad, one chunk at a time, a number of epochs.

    The auxiliary loss, if asked for, takes a step of its own for every base model's worth of chunks.
    """
    vae, base = distribution.vae, distribution.code.cut(psi)
    count = len(vae.decoder.scale)
    if settings.scale_chunks:
        vae.decoder.rescale(base)
    optimiser = _optimiser(vae.parameters(), settings)
    rows = base.flatten(0, 1)  # [B * K, size]
    size = settings.vae_batch
    for _ in phases.steps("vae", range(settings.vae_epochs), settings.vae_epochs):
        order = torch.randperm(len(rows), generator=generator).to(rows.device)
        met, added = torch.zeros(len(rows)), []
        for start in range(0, len(rows), size):
            chosen = order[start : start + size]
            prior = distribution.prior(task)
            losses = negative_elbo(vae, rows[chosen], chosen % count, prior, settings.kl_weight, generator)
            met[start : start + size] = losses.detach().flatten()
            optimiser.zero_grad()
            losses.mean().backward()
            optimiser.step()
            if auxiliary is not None and start // count != (start + size) // count:
                z = distribution.prior(task).sample(generator, AUXILIARY_MODELS)
                added.append(settings.classification_loss * auxiliary(vae.generate(z)))
                optimiser.zero_grad()
                added[-1].backward()
                optimiser.step()
        phases.note_loss("negative_elbo", float(met.mean()))
        if added:
            phases.note_loss("classification", float(torch.stack(added).mean().detach()))


def consolidate(
    distribution: WeightDistribution, settings: MerlinSettings, generator: torch.Generator, phases: Phases
) -> None:
    """Algorithm 2 as printed: after the new task was fitted, refine encoder and decoder on generated models of every task."""
    vae = distribution.vae
    optimiser = _optimiser(_parameters(vae, [vae.prior_mean, vae.prior_log_variance]), settings)
    positions = torch.arange(len(vae.decoder.scale), device=vae.decoder.scale.device)
    for prior in phases.steps("consolidate", distribution.priors, len(distribution.priors)):
        z = prior.sample(generator, settings.pseudo_models)
        pseudo_models = vae.generate(z).detach()  # [P, K, size]
        losses = negative_elbo(vae, pseudo_models, positions, prior, settings.kl_weight, generator)
        optimiser.zero_grad()
        losses.sum().backward()
        optimiser.step()


def _parameters(vae: WeightVAE, fixed: Sequence[nn.Module]) -> list[nn.Parameter]:
    """All parameters but those of the parts that are to stay as they are."""
    kept = {id(parameter) for part in fixed for parameter in part.parameters()}
    return [parameter for parameter in vae.parameters() if id(parameter) not in kept]


def _optimiser(parameters: Iterable[nn.Parameter], settings: MerlinSettings) -> torch.optim.Optimizer:
    if settings.vae_optimiser == "adagrad":
        return torch.optim.Adagrad(parameters, lr=settings.vae_rate)
    return torch.optim.Adam(parameters, lr=settings.vae_rate, fused=True)


def _one_each(priors: list[Gaussian], groups: list[Tensor], per_model: bool) -> Gaussian:
    """The prior of every model in the groups: [M, latent], or [M, 1, latent] where every chunk has a z."""

    def spread(values: list[Tensor]) -> Tensor:
        rows = torch.cat([value.expand(len(group), -1) for value, group in zip(values, groups, strict=True)])
        return rows if per_model else rows.unsqueeze(1)

    return Gaussian(spread([prior.mean for prior in priors]), spread([prior.log_variance for prior in priors]))
