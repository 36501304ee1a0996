"""Methods that learn from a stream of tasks: one life cycle (`learner.py`), one file a method, `merlin/` one file a step.

A method of your own starts from one of the three learners here and from the settings of the same kind; nothing is imported
before it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merlin_cl.learners.learner import Learner
    from merlin_cl.learners.network_learner import NetworkLearner
    from merlin_cl.learners.network_settings import NetworkSettings, ReplaySettings
    from merlin_cl.learners.registry import method_names, method_settings
    from merlin_cl.learners.replay_learner import ReplayLearner
    from merlin_cl.learners.settings import MethodSettings

__all__ = [
    "Learner",
    "MethodSettings",
    "NetworkLearner",
    "NetworkSettings",
    "ReplayLearner",
    "ReplaySettings",
    "method_names",
    "method_settings",
]

_HOMES = {
    "Learner": "learner",
    "MethodSettings": "settings",
    "NetworkLearner": "network_learner",
    "NetworkSettings": "network_settings",
    "ReplayLearner": "replay_learner",
    "ReplaySettings": "network_settings",
    "method_names": "registry",
    "method_settings": "registry",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
