"""Reading a checkpoint for its pictures and priors: single tensors as numpy arrays, without torch and without the rest."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

TENSOR = "$tensor"
"""The mark that `merlin_cl.runs.checkpoint` leaves where a tensor was."""


class Kept:
    """The state in a checkpoint; tensors are read when they are asked for."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.state: dict[str, Any] = json.loads(file.metadata()["state"])

    def method(self, *names: str) -> Any:
        """A part of the method's state, by its names from the outside in; None where the method keeps no such thing."""
        part: Any = self.state["learner"]["method"]
        for name in names:
            if not isinstance(part, dict) or name not in part:
                return None
            part = part[name]
        return self._file.get_tensor(part[TENSOR]) if isinstance(part, dict) and TENSOR in part else part

    def array(self, *names: str) -> NDArray[Any] | None:
        """A tensor of the method's state, None where there is none."""
        found = self.method(*names)
        return found if isinstance(found, np.ndarray) else None

    @property
    def task_names(self) -> list[str]:
        """What the stream calls its tasks."""
        return [task["name"] for task in self.state["learner"]["tasks"]]

    @property
    def task_classes(self) -> list[list[int]]:
        """The classes of every task."""
        return [list(task["classes"]) for task in self.state["learner"]["tasks"]]


@contextmanager
def opened(checkpoint: Path | None) -> Iterator[Kept | None]:
    """The checkpoint, or None where it is missing or cannot be read: a page can do without pictures."""
    if checkpoint is None:
        yield None
        return
    try:
        file = safe_open(checkpoint, "numpy")
        kept = Kept(file)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        yield None
        return
    with file:
        yield kept
