"""Latents drawn from the tasks' priors of a finished run, and the weights that they decode to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merlin_cl.errors import MerlinError
from merlin_cl.runs.folder import RunFolder

if TYPE_CHECKING:
    from merlin_cl.learners.merlin_paper.learner import MerlinPaper

SAMPLES = 20
"""Drawn of each task's prior, as in the paper's figure."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """Draws of all tasks: the task of each, its latent and its weights."""

    tasks: NDArray[np.int64]  # [N]
    latents: Array  # [N, L]
    weights: Array  # [N, P]


def samples_of(folder: RunFolder) -> Samples:
    """Twenty draws of every task's prior, by the learner as the run left it."""
    import torch

    learner = _learner(folder)
    generator = torch.Generator().manual_seed(0)
    latents = [prior.sample(generator, SAMPLES) for prior in learner.distribution.priors]
    weights = [learner.distribution.decoded(z) for z in latents]
    tasks = np.repeat(np.arange(len(latents)), SAMPLES)
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


def _learner(folder: RunFolder) -> MerlinPaper:
    """The learner of a finished run of the paper's recipe, restored from its last checkpoint."""
    from merlin_cl.learners.merlin_paper.learner import MerlinPaper
    from merlin_cl.runs.checkpoint import Checkpoints

    config = folder.config()
    state = Checkpoints(folder.checkpoints, config.digest).latest().state
    if state is None:
        raise MerlinError(f"{folder.path} has no checkpoint; copy the whole run folder here, or compute it again.")
    learner = config.method.build(config.stream.info(config.data), config.seed)
    assert isinstance(learner, MerlinPaper)
    learner.restore(state["learner"])
    return learner
