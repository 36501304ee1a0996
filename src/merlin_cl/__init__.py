"""Online continual learning in bounded memory: MERLIN and its rivals under the same rules.

Nothing here is imported before it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merlin_cl.estimator import ContinualClassifier, MerlinClassifier

__all__ = ["ContinualClassifier", "MerlinClassifier"]

_HOMES = {"ContinualClassifier": "merlin_cl.estimator", "MerlinClassifier": "merlin_cl.estimator"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
