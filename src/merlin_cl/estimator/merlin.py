"""MERLIN as a classifier that goes on learning."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from merlin_cl.estimator.boundaries import Boundaries
from merlin_cl.estimator.classifier import ContinualClassifier
from merlin_cl.protocol import Inference


class MerlinClassifier(ContinualClassifier):
    """MERLIN: it keeps a distribution over the weights of small networks, and a few examples, and answers with an ensemble.

    Inputs are tables [N, features] or images [N, H, W], [N, C, H, W] or [N, H, W, C], best as bytes.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MerlinClassifier(models=5, exemplars=100)
    >>> for task, digits in {"low": (0, 1), "high": (8, 9)}.items():
    ...     chosen = np.isin(y[:1000], digits)
    ...     model = model.partial_fit(X[:1000][chosen], y[:1000][chosen], task=task)
    >>> model.classes_
    array([0, 1, 8, 9])
    >>> chosen = np.isin(y[1000:], model.classes_)
    >>> round(model.end_task().score(X[1000:][chosen], y[1000:][chosen]), 1)
    1.0

    Parameters
    ----------
    base_models, models, exemplars, updates_per_batch, hidden_units, network : settings of MERLIN under these names; None: the
        preset's. The other parameters, and the attributes, are those of `ContinualClassifier`.
    """

    method: ClassVar[str] = "merlin"  # type: ignore[misc]  # a parameter of the class above, settled here
    _method_parameters = ("base_models", "models", "exemplars", "updates_per_batch", "hidden_units", "network")

    def __init__(
        self,
        *,
        base_models: int | None = None,
        models: int | None = None,
        exemplars: int | None = None,
        updates_per_batch: int | None = None,
        hidden_units: tuple[int, ...] | None = None,
        network: Any = None,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        scenario: Literal["class-incremental", "domain-incremental"] = "class-incremental",
        boundaries: Boundaries = "told",
        expected_tasks: int = 10,
        batch_size: int = 10,
        inference: Inference | None = None,
        standardise: bool | None = None,
        missing: Literal["refuse", "mean"] = "refuse",
        calibration: int = 0,
        features: Any = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "cpu",
    ) -> None:
        self.base_models = base_models
        self.models = models
        self.exemplars = exemplars
        self.updates_per_batch = updates_per_batch
        self.hidden_units = hidden_units
        self.network = network
        self.preset = preset
        self.settings = settings
        self.scenario = scenario
        self.boundaries = boundaries
        self.expected_tasks = expected_tasks
        self.batch_size = batch_size
        self.inference = inference
        self.standardise = standardise
        self.missing = missing
        self.calibration = calibration
        self.features = features
        self.random_state = random_state
        self.device = device
