"""Features by name: ours, those of other packages (entry points `merlin_cl.features`), and `package.module:factory`.

An entry point or a factory gives, when it is called without arguments, anything that computes features.
"""

import importlib
from pathlib import Path
from typing import Any

from merlin_cl.errors import UsageError, unknown
from merlin_cl.installed import entry_points

GROUP = "merlin_cl.features"
BUILT_IN = {
    "efficientnet-lite0": "merlin_cl.features.image_backbones:efficientnet_lite0",
    "minilm": "merlin_cl.features.sentence_encoders:minilm",
    "hashing": "merlin_cl.features.hashing:hashing",
}
"""What makes each of ours."""


def feature_names() -> list[str]:
    """Every name that features are known by, ours first.

    >>> feature_names()[:3]
    ['efficientnet-lite0', 'minilm', 'hashing']
    """
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - BUILT_IN.keys())]


def is_file_name(name: str) -> bool:
    """Whether a name is that of an ONNX file."""
    return Path(name).suffix.lower() == ".onnx"


def made(name: str) -> Any:
    """What computes the features of a name. Its module is imported: this is for names that a user gave, never for a file's."""
    from merlin_cl.networks.reference import is_reference, resolve

    if name in BUILT_IN:
        module, _, factory = BUILT_IN[name].partition(":")
        return getattr(importlib.import_module(module), factory)()
    for point in entry_points(group=GROUP, name=name):
        return _called(point.load(), name)
    if not is_reference(name):
        raise unknown("features", name, (*feature_names(), "package.module:factory", "a path that ends in .onnx"))
    return _called(resolve(name, "factory of features"), name)


def _called(factory: Any, name: str) -> Any:
    try:
        return factory()
    except TypeError as error:
        raise UsageError(
            f"The factory of features {name!r} cannot be called without arguments ({error}); name a function that takes none and "
            "gives what computes features."
        ) from None
