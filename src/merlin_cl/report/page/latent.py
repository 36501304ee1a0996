"""The latent space of a weight distribution: every task's prior, seen in the plane in which the priors differ most."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merlin_cl.report.page.kept import Kept

SAMPLES = 24
"""Latents drawn of each prior, to show what sampling gives."""
DEVIATIONS = 2
"""How many standard deviations an ellipse is wide."""

Array = NDArray[np.float64]


def latent_space(kept: Kept) -> dict[str, Any] | None:
    """Priors as ellipses and samples in the plane, and their means as numbers; None where the method has no priors."""
    priors = kept.method("distribution", "priors")
    if not priors:
        return None
    tasks = range(len(priors))
    means = np.stack([_vector(kept, task, "mean") for task in tasks])  # [T, L]
    deviations = np.exp(np.stack([_vector(kept, task, "log_variance") for task in tasks]) / 2)  # [T, L]
    axes, shares = plane(means)  # [2, L]
    centre = means.mean(axis=0)
    noise = np.random.default_rng(0).standard_normal((len(tasks), SAMPLES, means.shape[1]))
    samples = (means[:, None] + noise * deviations[:, None] - centre) @ axes.T  # [T, SAMPLES, 2]
    middles = (means - centre) @ axes.T  # [T, 2]
    return {
        "width": means.shape[1],
        "shares": [round(float(share), 4) for share in shares],
        "priors": [
            {
                "task": kept.task_names[task],
                "x": _short(middles[task, 0]),
                "y": _short(middles[task, 1]),
                **ellipse(axes, deviations[task]),
                "samples": [[_short(x), _short(y)] for x, y in samples[task]],
                "mean": [_short(value) for value in means[task]],
                "deviation": [_short(value) for value in deviations[task]],
            }
            for task in tasks
        ],
    }


def plane(means: Array) -> tuple[Array, Array]:
    """Two orthonormal directions, [2, L], along which the means differ most, and the share of all difference that each has.

    A latent of one or two numbers is shown as it is.
    """
    width = means.shape[1]
    if width <= 2:
        axes = np.eye(2, width)
    else:
        _, _, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=True)
        axes = directions[:2]
        # Of the two signs a direction can have, the one in which its largest number is positive: pages do not flip.
        axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    spread = (means - means.mean(axis=0)).var(axis=0).sum()
    shares = ((means - means.mean(axis=0)) @ axes.T).var(axis=0) / spread if spread > 0 else np.zeros(2)
    return axes, shares


def ellipse(axes: Array, deviations: Array) -> dict[str, float]:
    """Where a diagonal Gaussian has `DEVIATIONS` standard deviations in the plane: two radii and the first one's angle."""
    covariance = (axes * deviations**2) @ axes.T  # [2, 2]
    values, vectors = np.linalg.eigh(covariance)
    radii = DEVIATIONS * np.sqrt(np.maximum(values, 0))
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return {"rx": _short(radii[1]), "ry": _short(radii[0]), "angle": round(float(angle), 2)}


def _vector(kept: Kept, task: int, name: str) -> Array:
    found = kept.array("distribution", "priors", str(task), name)
    if found is None:
        raise KeyError(f"the prior of task {task} has no {name}")
    return found.astype(np.float64)


def _short(value: Any) -> float:
    """Five significant digits: variances may be tiny."""
    return float(f"{float(value):.5g}")
