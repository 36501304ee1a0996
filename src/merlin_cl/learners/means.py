"""The means that all methods have alike, by kind of input: a comparison is worth what its weakest rival had. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from merlin_cl.learners.tuned import search_record
from merlin_cl.networks import worth_convolutions
from merlin_cl.protocol import StreamInfo

Choice = Literal["random", "balanced", "herding", "k-centre", "gradient"]
Augmentation = Literal["none", "shifts", "shifts-and-mirrors"]
Optimiser = Literal["adam", "sgd"]
InputKind = Literal["vectors", "small images", "photographs"]


@dataclass(frozen=True)
class Means:
    """What a method has to learn with; settings of these names have these values unless a search or the method says otherwise."""

    exemplars: int
    exemplar_choice: Choice
    replay: int
    updates_per_batch: int
    augmentation: Augmentation
    optimiser: Optimiser = "adam"
    learning_rate: float = 1e-3
    competing: Literal["seen", "all"] = "seen"


SHARED: Mapping[InputKind, Means] = {
    "vectors": Means(200, "herding", replay=30, updates_per_batch=10, augmentation="none"),
    "small images": Means(200, "herding", replay=30, updates_per_batch=10, augmentation="none"),
    "photographs": Means(400, "balanced", replay=20, updates_per_batch=10, augmentation="shifts-and-mirrors"),
}
"""Numbers of exemplars are the paper's. The others suit replay methods in the mean of five tables that are no benchmarks, on
held-out training rows; of photographs chance keeps a more telling few than a mean of pixels does."""

DESCENT_RATE: Mapping[InputKind, float] = {"vectors": 0.03, "small images": 0.1, "photographs": 0.1}
"""The rate of methods that follow the gradient itself, which grows with the inputs, as Adam's steps do not. That of images is
from the papers of `gem` and `agem`; on eleven tables that are no benchmarks they have 77 and 51 % of held-out rows at 0.03 in the
mean, 67 and 39 % at 0.1 (one seed)."""

COMPARED = ("exemplars", "exemplar_choice", "replay", "updates_per_batch", "augmentation", "network", "hidden_units")
"""Means that a table names where its methods differ in them; a rate that suits one method need not suit another."""


def input_kind(stream: StreamInfo) -> InputKind:
    """What a stream's inputs are, as far as it matters to what suits them.

    >>> input_kind(StreamInfo("digits", (1, 28, 28), classes=10, tasks=5))
    'small images'
    """
    if len(stream.input_shape) != 3:
        return "vectors"
    return "photographs" if worth_convolutions(stream.input_shape) else "small images"


def means_for(stream: StreamInfo, optimiser: Optimiser = "adam") -> Means:
    """What every method with that optimiser has by default on a stream; larger images that a mirror would change are not
    augmented."""
    means = SHARED[input_kind(stream)]
    if optimiser == "sgd":
        means = replace(means, optimiser=optimiser, learning_rate=DESCENT_RATE[input_kind(stream)])
    mirrored = means.augmentation != "shifts-and-mirrors" or stream.mirrored
    return means if mirrored else replace(means, augmentation="none")


def shared_settings(kind: type[Any], stream: StreamInfo, own: frozenset[str]) -> dict[str, Any]:
    """The means as values of the settings of a dataclass, for those that it has and that are not its `own`."""
    known = {field.name for field in fields(kind)} - own
    means = means_for(stream, getattr(kind, "optimiser", "adam"))
    return {name: value for name, value in asdict(means).items() if name in known}


def means_of(method: Mapping[str, Any], stream: str) -> dict[str, Any]:
    """The means that a run had, from the record of its method's settings, and the trials of the search that chose them.

    >>> means_of({"name": "single", "updates_per_batch": 10, "weight_decay": 0.001}, "split-mnist")
    {'updates_per_batch': 10, 'search_trials': 0}
    """
    names = dict.fromkeys((*(field.name for field in fields(Means)), *COMPARED))
    search = search_record(method["name"], stream)
    searched = search is not None and all(method.get(name) == value for name, value in search["settings"].items())
    trials = len(search["trials"]) if search is not None and searched else 0
    return {**{name: method[name] for name in names if name in method}, "search_trials": trials}
