"""An estimator as a saved learner, and back."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import torch

from merlin_cl.errors import UsageError
from merlin_cl.estimator.boundaries import Boundaries, Divider, divider
from merlin_cl.estimator.calibration import HeldExamples
from merlin_cl.estimator.inputs import InputForm
from merlin_cl.estimator.labels import Labels
from merlin_cl.inputs.filling import ColumnMeans
from merlin_cl.inputs.standardisation import ENOUGH, Moments
from merlin_cl.learners.devices import AUTO
from merlin_cl.learners.saving.allocation import BoundedTensors
from merlin_cl.learners.saving.format import damaged
from merlin_cl.learners.saving.header import MOST, require_size
from merlin_cl.learners.saving.saved import Inputs, SavedLearner
from merlin_cl.learners.saving.trial import require_same_form, tensor_bytes
from merlin_cl.learners.setting_values import fitting
from merlin_cl.networks.given import network_name

if TYPE_CHECKING:
    from merlin_cl.estimator.classifier import ContinualClassifier

EXTRA = {"estimator", "parameters", "features", "labels"}
"""What an estimator says of itself in a file."""
TYPE = re.compile(r"object|[<>|=]?([biuf]\d{1,2}|U\d{1,9})")
"""Types of labels, as NumPy writes them."""
CARRY = 0.5
"""What weights of examples have left over at first."""
LARGEST_LABELS = 2**24
"""Bytes that all labels together may take, however short they are."""


def to_saved(estimator: "ContinualClassifier", parameters: dict[str, Any]) -> SavedLearner:
    """A fitted estimator, made with some parameters, as what a file holds."""
    values = estimator._labels.by_output
    classes = values.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise UsageError(f"Labels such as {classes[0]!r} cannot be saved; use text or numbers.")
    extra = {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: value
            for name, value in {**_with_named_network(parameters), "random_state": estimator.learner_.seed}.items()
            if name != "features"  # whose name and checksum are with the inputs
        },
        "features": estimator.n_features_in_,
        "labels": "object" if values.dtype == object else values.dtype.str,
    }
    return SavedLearner(
        estimator.learner_,
        tuple(classes),
        tuple(estimator.visits_),
        inputs_of(estimator),
        extra,
        {"divider": estimator._divider.state()}
        | _held_back(estimator)
        | _unsettled(estimator)
        | _along_the_way(estimator),
    )


def _with_named_network(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters with a name in place of a network that is an object."""
    parts = [part for part in (parameters, parameters.get("settings")) if isinstance(part, Mapping)]
    named = [
        {**part, "network": network_name(part["network"])} if part.get("network") is not None else dict(part)
        for part in parts
    ]
    return {**named[0], "settings": named[1]} if len(named) > 1 else named[0]


def inputs_of(estimator: "ContinualClassifier") -> Inputs:
    """The form in which an estimator takes inputs."""
    columns = tuple(getattr(estimator, "feature_names_in_", ()))
    form, scales = estimator._form, estimator._standardisation
    fill = estimator._means is not None
    return Inputs(form.bytes, columns, scales, estimator._note, estimator._encoding, fill)


def _held_back(estimator: "ContinualClassifier") -> dict[str, Any]:
    """The examples that were held back, if any were to be."""
    return {"calibration": estimator._calibration.state()} if estimator._calibration.size else {}


def _along_the_way(estimator: "ContinualClassifier") -> dict[str, Any]:
    """What fills in missing numbers, and what weights of examples have left over, where there is any."""
    means = {} if estimator._means is None else {"means": estimator._means.state()}
    return means | ({} if estimator._carry == CARRY else {"carry": estimator._carry})


def _unsettled(estimator: "ContinualClassifier") -> dict[str, Any]:
    """The moments that the scales of columns rest on, while these may still change."""
    moments = estimator._moments
    if moments is None:
        return {}
    return {"moments": {"count": moments.count, "mean": moments.mean, "squares": moments.squares}}


def restored(saved: SavedLearner, place: str, features: Any = None) -> "ContinualClassifier":
    """The estimator that was saved; a learner that a run left behind gets one. `features` is what its user gives for them."""
    try:
        with BoundedTensors(tensor_bytes(saved.extra_state)):
            estimator = _estimator(saved)
        estimator.features, estimator._note = features, saved.inputs.note
        return estimator
    except Exception as error:  # the checksum is right, but the content is not what an estimator saves
        raise damaged(place, error) from None


def _estimator(saved: SavedLearner) -> "ContinualClassifier":
    from merlin_cl.estimator.classifier import ContinualClassifier
    from merlin_cl.estimator.merlin import MerlinClassifier

    learner, extra = saved.learner, saved.extra
    columns = len(saved.inputs.columns) if saved.inputs.encoding is not None else 0
    features = columns or math.prod(learner.stream.input_shape)
    if extra:
        if set(extra) != EXTRA or extra["features"] != features:
            raise ValueError("it speaks of another estimator than that of its learner")
        kinds = {kind.__name__: kind for kind in (ContinualClassifier, MerlinClassifier)}
        kind = kinds[extra["estimator"]]
        estimator = kind(**_parameters(kind, extra["parameters"], saved))
        values = np.array(saved.classes, dtype=_label_type(extra["labels"], saved.classes))
        if len(set(values.tolist())) != len(values):
            raise ValueError("two classes of one label")
    else:
        estimator = ContinualClassifier(**_parameters_of_run(saved))
        values = np.array(saved.classes)
    estimator.learner_ = learner
    estimator._labels, estimator.visits_ = Labels(values), list(saved.tasks)
    estimator.classes_ = estimator._labels.classes
    estimator._standardisation = saved.inputs.standardisation
    estimator._moments = _moments(saved)
    estimator._encoding, estimator._means = saved.inputs.encoding, _means(estimator, saved)
    estimator._carry = _carry(saved)
    estimator._form = InputForm(learner.stream.input_shape, saved.inputs.bytes)
    estimator._divider = _divider(estimator.boundaries, saved)
    estimator._calibration = _calibration(estimator, saved)
    estimator._answers_to_held = {}
    estimator.n_features_in_ = features
    if saved.inputs.columns:
        estimator.feature_names_in_ = np.array(saved.inputs.columns, dtype=object)
    return estimator


def _parameters(kind: "type[ContinualClassifier]", record: Any, saved: SavedLearner) -> dict[str, Any]:
    """What the estimator was made with, once it is known that it can be made so again."""
    hints = get_type_hints(kind.__init__)
    parameters = {name: fitting(name, value, hints[name]) for name, value in record.items()}
    learner = saved.learner
    if parameters.get("method", learner.settings.method) not in (learner.settings.method, "auto"):
        raise ValueError(
            f"its estimator is one of {parameters['method']}, its learner one of {learner.settings.method}"
        )
    if type(parameters["random_state"]) is not int or parameters["inference"] not in (None, *learner.inferences):
        raise ValueError("its estimator could not be made with these parameters")
    calibration = parameters.setdefault("calibration", 0)  # files of 0.1 know of none
    if parameters["expected_tasks"] > MOST["tasks"] or parameters["batch_size"] < 1 or calibration < 0:
        raise ValueError("its estimator could not learn with these parameters")
    if parameters["device"] != AUTO and torch.device(parameters["device"]) != learner.device:
        parameters["device"] = str(learner.device)  # it was saved elsewhere
    if parameters["settings"] is not None and not isinstance(parameters["settings"], dict):
        raise ValueError("its settings are none")
    chosen = {"method": learner.settings.method} if parameters.get("method") == "auto" else {}
    fresh = kind(**parameters | chosen)._method_settings(learner.stream)
    require_size(learner.stream, fresh, tensor_bytes(learner.state()))
    return parameters


def _parameters_of_run(saved: SavedLearner) -> dict[str, Any]:
    """Of an estimator that would have made such a learner."""
    learner = saved.learner
    return {
        "method": learner.settings.method,
        "settings": learner.settings.record(),
        "scenario": "domain-incremental" if learner.stream.domain_incremental else "class-incremental",
        "expected_tasks": learner.stream.tasks,
        "missing": "mean" if "means" in saved.extra_state else "refuse",
        "random_state": learner.seed,
    }


def _divider(boundaries: Boundaries, saved: SavedLearner) -> Divider:
    """What finds boundaries, as it was; tried on an example, too."""
    shape, state = saved.learner.stream.input_shape, saved.extra_state.get("divider", {})
    if not state:
        return divider(boundaries, shape)
    made, twin = divider(boundaries, shape), divider(boundaries, shape)
    for one in (made, twin):
        one.restore(state)
    require_same_form(state, made.state())
    list(twin.pieces(torch.zeros(1, *shape), torch.zeros(1, dtype=torch.int64), 1))
    return made


def _means(estimator: "ContinualClassifier", saved: SavedLearner) -> ColumnMeans | None:
    """What fills in missing numbers, as it was."""
    state = saved.extra_state.get("means")
    if (state is None) != (estimator.missing == "refuse" or saved.inputs.bytes):
        raise ValueError("what fills in missing numbers is not there, or there against its settings")
    return None if state is None else ColumnMeans.from_state(state, saved.learner.stream.input_shape)


def _carry(saved: SavedLearner) -> float:
    """What weights of examples had left over."""
    carry = saved.extra_state.get("carry", CARRY)
    if type(carry) is not float or not 0 <= carry < 1:
        raise ValueError("what weights have left over is no part of an example")
    return carry


def _moments(saved: SavedLearner) -> Moments | None:
    """Those of the first examples, if scales were not settled by them."""
    state = saved.extra_state.get("moments")
    if state is None:
        return None
    shape = saved.learner.stream.input_shape
    count, mean, squares = state["count"], state["mean"], state["squares"]
    if type(count) is not int or not 0 < count < ENOUGH or saved.inputs.standardisation is None:
        raise ValueError("its scales rest on no number of examples that leaves them unsettled")
    if any(part.shape != shape or part.dtype != torch.float64 for part in (mean, squares)) or bool((squares < 0).any()):
        raise ValueError("its scales do not rest on its inputs")
    return Moments(count, mean, squares)


def _calibration(estimator: "ContinualClassifier", saved: SavedLearner) -> HeldExamples:
    """The examples that were held back, as they were."""
    made, state = (
        HeldExamples.empty(estimator.calibration, estimator._form.blank()),
        saved.extra_state.get("calibration"),
    )
    if (state is None) != (estimator.calibration == 0):
        raise ValueError("its examples for calibration are missing, or there against its settings")
    return made if state is None else made.restored(state, saved.learner.stream.classes, len(saved.learner.tasks))


def _label_type(name: str, labels: tuple[Any, ...]) -> Any:
    """The type of labels in an array, none of which may take memory that its labels do not ask for."""
    if not TYPE.fullmatch(name):
        raise ValueError(f"labels of the type {name[:40]}")
    kind = np.dtype(name)
    if kind.itemsize * len(labels) > max(LARGEST_LABELS, 8 * sum(len(str(label)) for label in labels)):
        raise ValueError(f"{len(labels)} labels of {kind.itemsize:,} bytes")
    return kind
