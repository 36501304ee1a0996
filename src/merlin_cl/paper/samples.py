"""Latents drawn from the tasks' priors of a finished run, and the weights that they decode to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from merlin_cl.errors import MerlinError
from merlin_cl.runs.folder import RunFolder

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SAMPLES = 20
"""Drawn of each task's prior, as in the paper's figure."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """Draws of all tasks: the task of each, its latent and its weights."""

    tasks: NDArray[np.int64]  # [N]
    latents: Array  # [N, L]
    weights: Array  # [N, P]


@runtime_checkable
class Drawing(Protocol):
    """A learner that has a prior for every task."""

    def drawn(self, task: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Latents [count, L] from a task's prior, and the models [count, P] that they decode to."""


def samples_of(folder: RunFolder) -> Samples:
    """Twenty draws of every task's prior, by the learner as the run left it."""
    import torch

    learner, count = _learner(folder)
    generator = torch.Generator().manual_seed(0)
    latents, weights = zip(*(learner.drawn(task, SAMPLES, generator) for task in range(count)), strict=True)
    tasks = np.repeat(np.arange(count), SAMPLES)
    return Samples(tasks, torch.cat(latents).double().numpy(), torch.cat(weights).double().numpy())


def separation(samples: Samples) -> dict[str, float]:
    """How often (%) the nearest neighbour of a sample is of its own task, in latents and in weights."""
    return {
        f"nearest neighbour of the same task, {name} (%)": _neighbours(points, samples.tasks)
        for name, points in (("latents", samples.latents), ("weights", samples.weights))
    }


def embedded(samples: Samples) -> Array:
    """The weights in the plane, [N, 2], by t-SNE."""
    from sklearn.manifold import TSNE

    return np.asarray(
        TSNE(perplexity=min(30.0, (len(samples.tasks) - 1) / 3), random_state=0).fit_transform(samples.weights)
    )


def _neighbours(points: Array, tasks: NDArray[np.int64]) -> float:
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    return float(100 * (tasks[distances.argmin(axis=1)] == tasks).mean())


def _learner(folder: RunFolder) -> tuple[Drawing, int]:
    """The learner of a finished run, restored from its last checkpoint, and how many tasks it has learned."""
    from merlin_cl.runs.checkpoint import Checkpoints

    config = folder.config()
    state = Checkpoints(folder.checkpoints, config.digest).latest().state
    if state is None:
        raise MerlinError(f"{folder.path} has no checkpoint; copy the whole run folder here, or compute it again.")
    learner = config.method.build(config.stream.info(config.data), config.seed)
    if not isinstance(learner, Drawing):
        raise MerlinError(f"{config.method.method} has no priors to draw from; take a run of merlin or merlin-paper.")
    learner.restore(state["learner"])
    return learner, len(learner.tasks)
