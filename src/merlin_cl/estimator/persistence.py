"""An estimator as a saved learner, and back."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.estimator.boundaries import divider
from merlin_cl.estimator.inputs import InputForm
from merlin_cl.estimator.labels import Labels
from merlin_cl.saving.format import damaged
from merlin_cl.saving.saved import Inputs, SavedLearner

if TYPE_CHECKING:
    from merlin_cl.estimator.classifier import ContinualClassifier


def saved(estimator: "ContinualClassifier") -> SavedLearner:
    """A fitted estimator as what a file holds."""
    values = estimator._labels.by_output
    classes = values.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise UsageError(f"Labels such as {classes[0]!r} cannot be saved; use text or numbers.")
    columns = tuple(getattr(estimator, "feature_names_in_", ()))
    extra = {
        "estimator": type(estimator).__name__,
        "parameters": {**estimator.get_params(deep=False), "random_state": estimator.learner_.seed},
        "features": estimator.n_features_in_,
        "labels": "object" if values.dtype == object else values.dtype.str,
    }
    return SavedLearner(
        estimator.learner_,
        tuple(classes),
        tuple(estimator.tasks_),
        Inputs(estimator._form.bytes, columns, estimator._standardisation),
        extra,
        {"divider": estimator._divider.state()},
    )


def restored(found: SavedLearner, place: str) -> "ContinualClassifier":
    """The estimator that was saved; a learner that a run left behind gets one."""
    try:
        return _estimator(found)
    except MerlinError:
        raise
    except Exception as error:  # the checksum is right, but the content is not what an estimator saves
        raise damaged(place, error) from None


def _estimator(found: SavedLearner) -> "ContinualClassifier":
    from merlin_cl.estimator.classifier import ContinualClassifier
    from merlin_cl.estimator.merlin import MerlinClassifier

    learner, extra = found.learner, found.extra
    if extra:
        kinds = {kind.__name__: kind for kind in (ContinualClassifier, MerlinClassifier)}
        parameters: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in extra["parameters"].items()
        }
        estimator = kinds[extra["estimator"]](**parameters)
        values = np.array(found.classes, dtype=_label_type(extra["labels"]))
        features = int(extra["features"])
    else:
        estimator = ContinualClassifier(**_parameters(found))
        values, features = np.array(found.classes), math.prod(learner.stream.input_shape)
    estimator.learner_ = learner
    estimator._labels, estimator.tasks_ = Labels(values), list(found.tasks)
    estimator.classes_ = estimator._labels.classes
    estimator._standardisation = found.inputs.standardisation
    estimator._form = InputForm(learner.stream.input_shape, found.inputs.bytes)
    estimator._divider = divider(estimator.boundaries, learner.stream.input_shape)
    if "divider" in found.extra_state:
        estimator._divider.restore(found.extra_state["divider"])
    estimator.n_features_in_ = features
    if found.inputs.columns:
        estimator.feature_names_in_ = np.array(found.inputs.columns, dtype=object)
    return estimator


def _parameters(found: SavedLearner) -> dict[str, Any]:
    """Of an estimator that would have made such a learner."""
    learner = found.learner
    return {
        "method": learner.settings.method,
        "settings": learner.settings.record(),
        "scenario": "domain-incremental" if learner.stream.domain_incremental else "class-incremental",
        "expected_tasks": learner.stream.tasks,
        "random_state": learner.seed,
    }


def _label_type(name: str) -> Any:
    kind = np.dtype(name)
    if kind.kind not in "biufUO":
        raise ValueError(f"labels of the type {name}")
    return kind
