"""Meta-consolidation, Algorithm 2: the distributions of all tasks in a fixed number of bytes.

While there is room, tasks have it. When there is none, the largest priors become smaller, one step at a time, and what is left
of each is fitted to models replayed from what it was: their answers on the exemplars, and on mixtures of these, are what the
smaller prior has to give (the paper's auxiliary loss). A prior that is stored for the first time is fitted to its base models in
the same way. Digits stay as they were; what learns is how far each component stands from its start, one factor of all its units:
more than that a handful of exemplars cannot teach, and fewer exemplars than the task has classes cannot teach even that.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.learners.merlin.distribution import TaskPrior, WeightDistribution
from merlin_cl.learners.merlin.settings import Consolidation
from merlin_cl.networks.bank import Bank, Gradients
from merlin_cl.networks.optimisers import Adam
from merlin_cl.networks.statistics import reestimate_statistics
from merlin_cl.tensors import MASKED

STEPS, RATE, INPUTS = 100, 0.01, 40
"""Of the fit: steps, Adam's rate for the logarithms of factors, and inputs a step."""
POOL = 400
"""Inputs that replayed models are asked about."""


class ReplaySet(NamedTuple):
    """What a task's models are replayed on."""

    x: Tensor
    """Exemplars, [n, *input_shape], of the tasks that its base models learned from."""
    weights: Tensor
    """How much each counts in statistics, [n]; n in all."""
    allowed: Tensor
    """Outputs that the models choose among, bool [outputs]."""
    telling: bool
    """Whether as many of the exemplars are of the task itself as it has classes; fewer do not tell what its models answer."""


def consolidate(
    distribution: WeightDistribution,
    how: Consolidation,
    replay_set: Callable[[int], ReplaySet],
    generator: torch.Generator,
    brief: bool = False,
) -> None:
    """Make priors smaller until all fit into the memory: the largest first, and of equals the oldest; `brief` as in `fitted`."""
    while distribution.bytes > distribution.memory:
        held = [j for j, prior in enumerate(distribution.priors) if prior is not None]
        if len(held) == 1:
            return  # a single prior is never given up, however small the memory
        largest = max(held, key=lambda j: (*distribution.prior(j).extent(distribution.sketch), -j))
        smaller = None if how == "oldest" else distribution.prior(largest).smaller(distribution.sketch)
        if (
            smaller is None
        ):  # the oldest goes altogether, and the next task's models, which met it in replay, answer for it
            distribution.priors[held[0]] = None
            continue
        if how == "replay" and isinstance(smaller, TaskPrior):
            pseudo_models = Bank(distribution.sketch.network, distribution.mean(largest))  # lines 3 and 4
            # Lines 5 to 7
            smaller = fitted(smaller, pseudo_models, distribution, replay_set(largest), generator, brief)
        distribution.priors[largest] = smaller


def fitted(
    prior: TaskPrior,
    models: Bank,
    distribution: WeightDistribution,
    replay_set: ReplaySet,
    generator: torch.Generator,
    brief: bool = False,
) -> TaskPrior:
    """The prior with units such that its components' mean models, together, answer as other models do together; the prior
    as it is where exemplars are too few to tell.

    `brief`: after one step, where it only matters that it can be done.
    """
    if not replay_set.telling:
        return prior
    decoder, sketch = distribution.decoder, distribution.sketch
    latents = prior.mean(sketch)
    reestimate_statistics(models, replay_set.x, replay_set.weights)
    x = _mixtures(replay_set, generator)
    wanted = _together(models.logits(x), replay_set.allowed)  # [n, outputs]
    bank = Bank(sketch.network, decoder(latents))
    starts, learned = decoder.starts[latents.starts], sketch.network.learned
    offsets = bank.weights[:, :learned] - starts[:, :learned]
    gradients, log_factors = Gradients(bank), torch.zeros_like(latents.z[:, :1])  # [C, 1]
    adam = Adam(log_factors, RATE, weight_decay=0.0, decoupled=True)
    for _ in range(1 if brief else STEPS):
        chosen = torch.randint(len(x), (INPUTS,), generator=generator).to(x.device)
        target = wanted[chosen]

        def loss(logits: Tensor, target: Tensor = target) -> Tensor:
            return -(target * _together(logits, replay_set.allowed).clamp(min=1e-9).log()).sum(dim=-1).mean()

        by_psi = gradients.gradient(x[chosen].expand(prior.components, -1, *x.shape[1:]), loss)[:, :learned]
        factors = log_factors.exp()
        # psi is its start plus factor times offsets, whose derivative by the factor's logarithm is that product itself.
        adam.step(log_factors, (by_psi * offsets).sum(dim=1, keepdim=True) * factors)
        with torch.no_grad():
            torch.addcmul(starts[:, :learned], log_factors.exp(), offsets, out=bank.weights[:, :learned])
    return prior.scaled(log_factors.exp())


def _mixtures(replay_set: ReplaySet, generator: torch.Generator) -> Tensor:
    """Inputs between two exemplars each, drawn as often as they count: a few exemplars span a set that holds many."""
    x, weights = replay_set.x, replay_set.weights.cpu()
    one, other = torch.multinomial(weights, 2 * POOL, replacement=True, generator=generator).to(x.device).chunk(2)
    share = torch.rand(POOL, *[1] * (x.dim() - 1), generator=generator).to(x.device)
    return share * x[one] + (1 - share) * x[other]


def _together(logits: Tensor, allowed: Tensor) -> Tensor:
    """The mean probabilities, [N, outputs], of models with logits [M, N, outputs]."""
    return logits.masked_fill(~allowed, MASKED).softmax(dim=-1).mean(dim=0)
