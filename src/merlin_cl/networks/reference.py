"""Networks of a user's own, named so that a run can record them: `package.module:factory`."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from merlin_cl.errors import UsageError

Factory = Callable[[tuple[int, ...], int], nn.Module]
"""Makes a fresh module from the shape of an input and the number of classes. A class with such an __init__ is one."""


def reference(factory: Factory) -> str:
    """The name under which `network` settings take a factory.

    >>> from collections import Counter
    >>> reference(Counter)
    'collections:Counter'
    """
    name = getattr(factory, "__qualname__", "<unnamed>")
    if "<" in name:
        raise UsageError(
            f"The network {name} is not at the top of a module, where a run could find it again; move it there."
        )
    return f"{factory.__module__}:{name}"


def is_reference(name: str) -> bool:
    """Whether a text is the name of a factory; nothing else is ever imported.

    >>> is_reference("my.networks:Wide"), is_reference("cuda:1"), is_reference("mlp")
    (True, False, False)
    """
    module, colon, path = name.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *path.split(".")))


def resolve(name: str, what: str = "network") -> Callable[..., Any]:
    """The factory of a name; modules are looked for as Python does, and in the current folder. `what` it is, for messages."""
    if not is_reference(name):
        raise UsageError(f"The {what} {name!r} is no name of code; name it as package.module:factory.")
    module_name, _, path = name.partition(":")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.append(here)
    try:
        value: object = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(
            f"The {what} {name!r} cannot be imported ({error}); name it as package.module:factory, importable from here."
        ) from error
    finally:
        if added:
            sys.path.remove(here)
    for part in path.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        raise UsageError(
            f"The module {module_name} has no {path!r} that can be called; name it as package.module:factory."
        )
    return value
