"""A small learner of every method, and data it learns in a blink."""

from functools import cache
from typing import Any

import numpy as np

from merlin_cl import ContinualClassifier
from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_names, method_settings

COLUMNS = 6
CENTRES = np.random.default_rng(99).normal(0, 2, (12, COLUMNS))
SMALLER: dict[str, Any] = {
    "hidden_units": (16,),
    "exemplars": 30,
    "models": 2,
    "base_models": 2,
    "updates_per_batch": 1,
    "vae_steps": 5,
    "fine_tune_epochs": 2,
    "epochs": 2,
    "latent": 50,
    "width": 100,
    "hidden": 8,
    "generator_hidden": 8,
    "likelihood": "gaussian",
}
"""Settings that make a method quick, where it has them."""


def methods() -> list[str]:
    """Every method."""
    return sorted(method_names())


def small(method: str, seed: int = 0) -> ContinualClassifier:
    """A learner of a method, as small as it may be."""
    own = method_settings(method).__dataclass_fields__
    return ContinualClassifier(
        method, settings={name: value for name, value in SMALLER.items() if name in own}, random_state=seed
    )


def clouds(*classes: int, count: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of clouds that are well apart, and which cloud each is of."""
    draws = np.random.default_rng(seed)
    y = draws.permutation(np.resize(np.array(classes), count))
    return (CENTRES[y] + draws.normal(0, 0.3, (count, COLUMNS))).astype(np.float32), y


def taught(method: str, seed: int = 0) -> ContinualClassifier:
    """A learner that knows four clouds from two tasks."""
    model = small(method, seed)
    for task, classes in enumerate([(0, 1), (2, 3)]):
        model.partial_fit(*clouds(*classes, seed=seed + task), classes=announced(method)).end_task()
    return model


def announced(method: str) -> range | None:
    """Classes to announce to a learner of a method: all, where its head cannot grow."""
    return None if grows(method) else range(len(CENTRES))


@cache
def grows(method: str) -> bool:
    """Whether a learner of a method takes classes that nobody announced."""
    x, y = clouds(0, 1)
    try:
        small(method).partial_fit(x, y).partial_fit(x, y + 1)
    except UsageError:
        return False
    return True
