"""Online continual learning in bounded memory: MERLIN and its rivals under the same rules.

The names below are the front door; nothing is imported before it is used, torch least of all.

- `MerlinClassifier`, `ContinualClassifier`: learn from what arrives, by scikit-learn's conventions; `load` reads a saved one.
- `evaluate_prequential`: how well one answers what it is about to learn.
- `Stream`: tasks that follow one another, from a benchmark or your own data; `run` learns and scores one.
- `Learner`, `MethodSettings`, `StreamInfo`, `TaskInfo`: what a method is made of; `check_learner` tries one of your own.
- `method_names`, `stream_names`: what can be named. `MerlinError`: every error that says in a sentence what is wrong.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merlin_cl.checks import check_learner
    from merlin_cl.errors import MerlinError
    from merlin_cl.estimator import ContinualClassifier, MerlinClassifier, evaluate_prequential, load
    from merlin_cl.learners import Learner, MethodSettings, method_names
    from merlin_cl.protocol import StreamInfo, TaskInfo
    from merlin_cl.runs.in_memory import run
    from merlin_cl.streams import Stream, stream_names

__all__ = [
    "ContinualClassifier",
    "Learner",
    "MerlinClassifier",
    "MerlinError",
    "MethodSettings",
    "Stream",
    "StreamInfo",
    "TaskInfo",
    "__version__",
    "check_learner",
    "evaluate_prequential",
    "load",
    "method_names",
    "run",
    "stream_names",
]

__version__ = "0.2.0"

_HOMES = {
    "ContinualClassifier": "estimator",
    "Learner": "learners",
    "MerlinClassifier": "estimator",
    "MerlinError": "errors",
    "MethodSettings": "learners",
    "Stream": "streams",
    "StreamInfo": "protocol",
    "TaskInfo": "protocol",
    "check_learner": "checks",
    "evaluate_prequential": "estimator",
    "load": "estimator",
    "method_names": "learners",
    "run": "runs.in_memory",
    "stream_names": "streams",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
