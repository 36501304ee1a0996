"""What the header of a file may say: types, ranges, sizes, and names of code. All is refused before anything is made of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.features.raw import Kind
from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.networks.given import is_given, network_name, require_given
from merlin_cl.networks.reference import is_reference
from merlin_cl.protocol import StreamInfo

Header = dict[str, Any]
"""What JSON can hold: method, settings, classes, tasks, the form of inputs."""

PARTS: dict[str, type | tuple[type, ...]] = {
    "merlin_cl": str,
    "method": str,
    "settings": dict,
    "stream": dict,
    "seed": int,
    "classes": list,
    "tasks": list,
    "inputs": dict,
    "extra": dict,
}
STREAM: dict[str, type] = {
    "name": str,
    "input_shape": list,
    "classes": int,
    "tasks": int,
    "domain_incremental": bool,
    "mirrored": bool,
}
INPUTS: dict[str, type] = {"bytes": bool, "columns": list, "features": dict, "categories": list}
FEATURES: dict[str, type] = {"name": str, "checksum": str, "kind": str, "shape": list}
LOOKED_UP = ("method", "settings", "extra")
"""Where names may be of code. Classes, tasks, columns and the names of stream and features are words that are never looked up."""

MOST = {"tasks": 10**5, "numbers in an input": 10**8, "layers": 100, "units of a layer": 10**6}
SMALL_NETWORK = 12 * 2**20
"""Weights that a network may have in a file of any size; a larger one needs a file to match, as one that holds it is."""
SMALL_ENSEMBLE = 2**27
"""The same of all networks of an ensemble together."""
WEIGHTS_A_BYTE = 16
"""What stands for a weight in a file takes no less than half a bit: a distribution over weights is kept in few."""
MEMBERS = ("models", "base_models")
"""Settings that say how many networks there are."""


class ImplausibleError(ValueError):
    """A header that is not one that was saved; the text says why in a few words."""


def require_form(header: Header) -> None:
    """Refuse a header with a part that is missing, unknown, or of another type or range than any that was saved has."""
    _require_types(header, PARTS, "its header", optional=("merlin_cl",))
    _require_types(header["stream"], STREAM, "its stream", optional=("domain_incremental", "mirrored"))
    inputs = header["inputs"]
    _require_types(inputs, INPUTS, "its inputs", optional=("features", "categories"))
    _require_numbers(header)
    shape = header["stream"]["input_shape"]
    if not 1 <= len(shape) <= 8 or not all(type(size) is int and size >= 1 for size in shape):
        raise ImplausibleError(f"inputs of shape {shape}")
    for name in ("classes", "tasks"):
        if header["stream"][name] < 1:
            raise ImplausibleError(f"{header['stream'][name]} {name}")
    _require_words(header["classes"], (str, bool, int, float), "class")
    _require_words(header["tasks"], (str, int), "task")
    _require_words(header["inputs"]["columns"], (str,), "column")
    if len(header["classes"]) != header["stream"]["classes"]:
        raise ImplausibleError(f"{header['stream']['classes']} classes, {len(header['classes'])} of them with a name")
    raw = _require_features(inputs["features"]) if "features" in inputs else shape
    if "categories" not in inputs and len(inputs["columns"]) not in (0, math.prod(raw)):
        raise ImplausibleError(f"{len(inputs['columns'])} columns for inputs of shape {raw}")


def require_trust(header: Header, network: Any, place: str) -> None:
    """Refuse a file that names code, wherever it does so, unless its reader names the same code: it is all that is trusted.

    A network that was an object has to be given again.
    """
    trusted = None if network is None else network_name(network)
    for part in LOOKED_UP:
        for name in _texts(header[part]):
            if is_given(name):
                require_given(name, network, place)
            if is_reference(name) and name != trusted:
                raise UsageError(
                    f"{place} names {name!r}, which is code outside this package; if you trust it, say so: load it with "
                    f"network={name!r}."
                )


def require_size(stream: StreamInfo, settings: MethodSettings, content: int) -> None:
    """Refuse a learner that takes far more memory than a file with `content` bytes of tensors can be about."""
    counted = [("tasks", stream.tasks), ("numbers in an input", math.prod(stream.input_shape))]
    if isinstance(settings, ClassifierSettings):
        counted += [("layers", len(settings.hidden_units) + 1)]
        counted += [("units of a layer", units) for units in settings.hidden_units]
    for name, number in counted:
        if not 1 <= number <= MOST[name]:
            raise ImplausibleError(f"{number:,} {name}, where 1 to {MOST[name]:,} can be")
    if not isinstance(settings, ClassifierSettings):
        return
    weights = settings.classifier(stream).size
    members = max([1, *(getattr(settings, name, 1) for name in MEMBERS)])
    for number, small, what in (
        (weights, SMALL_NETWORK, "a network"),
        (members * weights, SMALL_ENSEMBLE, f"{members:,} networks"),
    ):
        most = max(small, WEIGHTS_A_BYTE * content)
        if number > most:
            raise ImplausibleError(f"{what} of {number:,} weights, where so small a file can be about {most:,}")


def require_savable(header: Header, stream: StreamInfo, settings: MethodSettings, content: int) -> None:
    """Refuse to write what could not be read again."""
    try:
        require_form(header)
        require_size(stream, settings, content)
    except ImplausibleError as error:
        raise MerlinError(
            f"The learner cannot be saved: a file that speaks of {error} would not be read again."
        ) from None


def _require_types(
    value: Mapping[str, Any], kinds: Mapping[str, type | tuple[type, ...]], what: str, optional: tuple[str, ...] = ()
) -> None:
    for name in value:
        if name not in kinds:
            raise ImplausibleError(f"{what} speaks of {name!r}")
    for name, kind in kinds.items():
        if name not in value:
            if name in optional:
                continue
            raise ImplausibleError(f"{what} lacks {name!r}")
        if not isinstance(value[name], kind) or (kind is int and isinstance(value[name], bool)):
            raise ImplausibleError(f"{what} has a {type(value[name]).__name__} for {name!r}")


def _require_features(note: Header) -> list[int]:
    """Refuse a note on features that is none; gives the shape of what they are computed from."""
    _require_types(note, FEATURES, "its features")
    shape = note["shape"]
    if (
        note["kind"] not in get_args(Kind)
        or len(shape) > 8
        or not all(type(size) is int and size >= 1 for size in shape)
    ):
        raise ImplausibleError(f"features of {note['kind'][:40]} of shape {shape}")
    if bool(shape) == (note["kind"] == "text"):
        raise ImplausibleError(f"features of {note['kind']} of shape {shape}")
    return list(shape)


def _require_numbers(value: Any) -> None:
    """Refuse numbers, at any depth, that are not finite or too large for any use."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ImplausibleError(f"the number {value}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ImplausibleError("a number of more than 64 bits")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_numbers(item)


def _require_words(words: list[Any], kinds: tuple[type, ...], what: str) -> None:
    """Refuse what is not a list of names."""
    if not all(type(word) in kinds for word in words):
        raise ImplausibleError(f"a {what} whose name is no name")


def _texts(value: Any) -> Iterator[str]:
    """Every text at any depth, names of things included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
