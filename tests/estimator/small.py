"""Estimators and data small enough for a test."""

import numpy as np

from merlin_cl import ContinualClassifier, MerlinClassifier

CENTRES = np.random.default_rng(99).normal(0, 2, (12, 6))
SMALL = {"latent": 200, "learning_rate": 2e-2, "fine_tune_rate": 1e-2}


def clouds(*classes, count=60, seed=0, kind=np.float32):
    """`count` points of clouds, well apart, in random order; and which cloud each is of."""
    draws = np.random.default_rng(seed)
    y = draws.permutation(np.resize(np.array(classes), count))
    return (CENTRES[y] + draws.normal(0, 0.3, (count, 6))).astype(kind), y


def merlin(**parameters):
    defaults = {"hidden_units": (16,), "exemplars": 40, "models": 3, "base_models": 3, "updates_per_batch": 5}
    settings = {**SMALL, **parameters.pop("settings", {})}
    return MerlinClassifier(**{**defaults, **parameters}, settings=settings)


def rival(method, **settings):
    return ContinualClassifier(method, settings={"hidden_units": (16,), **settings})
