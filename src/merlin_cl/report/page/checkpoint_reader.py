"""Reading a checkpoint for its pictures and priors: single tensors as numpy arrays, without torch and without the rest."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merlin_cl import statefile
from merlin_cl.errors import MerlinError
from merlin_cl.statefile import TENSOR, StateFile


class Kept:
    """The state in a checkpoint; tensors are read when they are asked for."""

    def __init__(self, file: StateFile) -> None:
        self._file = file
        self.state: dict[str, Any] = file.marked

    def method(self, *names: str | int) -> Any:
        """A part of the method's state, by its names and places from the outside in; None where there is no such thing."""
        part: Any = self.state["learner"]["method"]
        for name in names:
            there = isinstance(part, dict) and name in part
            if not there and not (isinstance(part, list) and isinstance(name, int) and 0 <= name < len(part)):
                return None
            part = part[name]
        return self._file.array(part[TENSOR]) if isinstance(part, dict) and TENSOR in part else part

    def array(self, *names: str | int) -> NDArray[Any] | None:
        """A tensor of the method's state, None where there is none."""
        value = self.method(*names)
        return value if isinstance(value, np.ndarray) else None

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
    with ExitStack() as stack:
        kept = None
        if checkpoint is not None:
            with suppress(OSError, MerlinError, ValueError):
                kept = Kept(stack.enter_context(statefile.opened(checkpoint)))
        yield kept
