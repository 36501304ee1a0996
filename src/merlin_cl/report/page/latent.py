"""The latent space of a weight distribution: every task's prior, seen in the plane in which the priors differ most."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merlin_cl.report.page.checkpoint_reader import Kept

SAMPLES = 24
"""Latents drawn of each prior, to show what sampling gives."""
DEVIATIONS = 2
"""How many standard deviations an ellipse is wide."""
LISTED = 64
"""Numbers of a latent up to which all are listed beside the figure."""
PER_BYTE = {16: 2, 6: 3, 4: 4, 3: 5, 2: 8}
"""How many numbers share a byte, by how many values each may have, as `learners/merlin/storage.py` packs them."""

Array = NDArray[np.float64]


class Component(NamedTuple):
    """A normal distribution of z with independent numbers: a prior, or one of those that a prior is a mixture of."""

    task: int
    place: int | None
    """Which of its task's components it is; None where a task has one Gaussian and no more."""
    mean: Array  # [L]
    deviation: Array  # [L]


def latent_space(kept: Kept) -> dict[str, Any] | None:
    """Priors as ellipses and samples in the plane, and their means as numbers; None where the method has no priors."""
    components = _components(kept)
    if not components:
        return None
    means = np.stack([component.mean for component in components])  # [C, L]
    axes, shares = plane(means)  # [2, L]
    centre = means.mean(axis=0)
    middles = (means - centre) @ axes.T  # [C, 2]
    noise = np.random.default_rng(0).standard_normal((len(components), SAMPLES, 2))
    return {
        "width": means.shape[1],
        "shares": [round(float(share), 4) for share in shares],
        "priors": [
            {
                "task": kept.task_names[component.task],
                "number": component.task,
                "component": component.place,
                "x": _short(middle[0]),
                "y": _short(middle[1]),
                **ellipse(axes, component.deviation),
                "samples": [[_short(x), _short(y)] for x, y in middle + draws @ _root(axes, component.deviation)],
                "length": _short(np.linalg.norm(component.mean)),
                "spread": _short(np.linalg.norm(component.deviation)),
                "mean": [_short(value) for value in component.mean] if means.shape[1] <= LISTED else [],
                "deviation": [_short(value) for value in component.deviation] if means.shape[1] <= LISTED else [],
            }
            for component, middle, draws in zip(components, middles, noise, strict=True)
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
        _, _, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
        axes = _two(directions)
        # Of the two signs a direction can have, the one in which its largest number is positive: pages do not flip.
        axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    spread = (means - means.mean(axis=0)).var(axis=0).sum()
    shares = ((means - means.mean(axis=0)) @ axes.T).var(axis=0) / spread if spread > 0 else np.zeros(2)
    return axes, shares


def ellipse(axes: Array, deviations: Array) -> dict[str, float]:
    """Where a diagonal Gaussian has `DEVIATIONS` standard deviations in the plane: two radii and the first one's angle."""
    values, vectors = _seen(axes, deviations)
    radii = DEVIATIONS * np.sqrt(values)
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return {"rx": _short(radii[1]), "ry": _short(radii[0]), "angle": round(float(angle), 2)}


def _components(kept: Kept) -> list[Component]:
    """What the checkpoint has of p(z | t), of every task that has any."""
    priors = kept.method("distribution", "priors")
    if isinstance(priors, list):  # mixtures, in few bits
        components = [
            _mixture(kept, task) for task, prior in enumerate(priors) if prior is not None and "means" in prior
        ]
        return [component for of_task in components for component in of_task]
    return [
        Component(task, None, _vector(kept, task, "mean"), np.exp(_vector(kept, task, "log_variance") / 2))
        for task in range(len(priors or ()))
    ]


def _mixture(kept: Kept, task: int) -> list[Component]:
    """The components of a task's prior: digits in units of their own for every part of z."""
    place = ("distribution", "priors", task)
    levels, kept_parts = kept.method(*place, "means", "levels"), kept.method(*place, "means", "kept")
    short = kept.method(*place, "short")  # files from before there was a short form do not say
    sizes = np.diff(kept.method("distribution", "short_groups" if short else "groups"), axis=1)[:, 0]
    digits, units, spreads = (
        _array(kept, *place, *names) for names in (("means", "digits"), ("means", "units"), ("spreads",))
    )
    each = PER_BYTE[levels]
    unpacked = digits.astype(np.int64)[:, :, None] // levels ** np.arange(each - 1, -1, -1) % levels
    part = np.repeat(np.arange(units.shape[1]), sizes[kept_parts])
    numbers = unpacked.reshape(len(digits), -1)[:, : len(part)] - (levels - 1) / 2
    mean, deviation = np.zeros((2, len(digits), sizes.sum()))
    at = np.repeat(kept_parts, sizes)
    mean[:, at] = numbers * units[:, part]
    deviation[:, at] = (units * spreads)[:, part]
    if short:
        fold = _fold(*(kept.method("distribution", name) for name in ("groups", "short_groups", "outputs")))
        mean, deviation = mean[:, fold], deviation[:, fold]
    return [Component(task, b, mean[b], deviation[b]) for b in range(len(digits))]


def _fold(groups: list[list[int]], short: list[list[int]], outputs: int) -> NDArray[np.int64]:
    """Which number of a short z stands for each number of a long one, as `networks/sketch.py` ties them: [L].

    The last parts of z are the outputs'; in each its bias is the last number, which has one of its own in either form.
    """
    parts = []
    for at, ((start, stop), (first, last)) in enumerate(zip(groups, short, strict=True)):
        biases = int(at >= len(groups) - outputs)
        parts.append(first + np.arange(stop - start - biases) % (last - first - biases))
        parts.append(np.arange(last - biases, last))
    return np.concatenate(parts)


def _two(directions: Array) -> Array:
    """The first two directions; a second one at right angles where there is but one."""
    if len(directions) > 1:
        return directions[:2]
    (first,) = directions
    second = np.zeros_like(first)
    second[np.abs(first).argmin()] = 1.0
    second -= (second @ first) * first
    return np.stack([first, second / np.linalg.norm(second)])


def _seen(axes: Array, deviations: Array) -> tuple[Array, Array]:
    """Variances, ascending, and their directions, of a diagonal Gaussian in the plane."""
    values, vectors = np.linalg.eigh((axes * deviations**2) @ axes.T)
    return np.maximum(values, 0), vectors


def _root(axes: Array, deviations: Array) -> Array:
    """The matrix, [2, 2], that makes draws of such a Gaussian from standard normal ones."""
    values, vectors = _seen(axes, deviations)
    root: Array = (vectors * np.sqrt(values)).T
    return root


def _vector(kept: Kept, task: int, name: str) -> Array:
    return _array(kept, "distribution", "priors", str(task), name)


def _array(kept: Kept, *names: str | int) -> Array:
    array = kept.array(*names)
    if array is None:
        raise KeyError(f"the distribution has no {' '.join(map(str, names[1:]))}")
    return array.astype(np.float64)


def _short(value: Any) -> float:
    """Five significant digits: variances may be tiny."""
    return float(f"{float(value):.5g}")
