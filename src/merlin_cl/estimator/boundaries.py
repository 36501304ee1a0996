"""Where one task ends and the next begins: told by the user, after every so many examples, or found in the stream itself."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Literal

from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.estimator.drift import DriftDetector
from merlin_cl.tensors import State

Boundaries = Literal["told", "detected"] | int
Piece = tuple[bool, Tensor, Tensor]
"""Whether a new task begins with these examples, and the examples."""


class Divider(ABC):
    """Cuts what arrives into batches, and says which of them begin a new task."""

    @abstractmethod
    def pieces(self, x: Tensor, y: Tensor, size: int) -> Iterator[Piece]:
        """x [N, *input_shape], y [N] in batches of at most `size`, each asked for when the one before was learned."""

    @abstractmethod
    def state(self) -> State:
        """What it has to remember."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave."""


class Announced(Divider):
    """The user says so."""

    def state(self) -> State:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing to take over."""

    def pieces(self, x: Tensor, y: Tensor, size: int) -> Iterator[Piece]:
        """Batches; none begins a task by itself."""
        for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
            yield False, some_x, some_y


class FixedLength(Divider):
    """After `count` examples."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._since = 0

    def pieces(self, x: Tensor, y: Tensor, size: int) -> Iterator[Piece]:
        """Batches that end where a task does."""
        while len(y):
            begins = self._since == self.count
            if begins:
                self._since = 0
            taken = min(size, self.count - self._since)
            self._since += len(y[:taken])
            yield begins, x[:taken], y[:taken]
            x, y = x[taken:], y[taken:]

    def state(self) -> State:
        """Examples since the last boundary."""
        return {"since": self._since}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave; ValueError where it cannot have given that."""
        if type(state["since"]) is not int or not 0 <= state["since"] <= self.count:
            raise ValueError(f"{state['since']!r} examples since the last boundary")
        self._since = state["since"]


class Detected(Divider):
    """Where the stream changes."""

    def __init__(self, input_shape: tuple[int, ...]) -> None:
        self._detector = DriftDetector(input_shape)

    def pieces(self, x: Tensor, y: Tensor, size: int) -> Iterator[Piece]:
        """Batches, each looked at before it is learned, and cut where a task begins within it."""
        while len(y):
            some_x, some_y = x[:size], y[:size]
            if len(y) > size:  # a doubtful end is looked at again together with what follows
                certain = len(some_y) - self._detector.doubtful(some_y)
                some_x, some_y = some_x[:certain], some_y[:certain]
            x, y = x[len(some_y) :], y[len(some_y) :]
            at = self._detector.change(some_x, some_y)
            if at is None:
                yield False, some_x, some_y
                continue
            if at > 0:
                yield False, some_x[:at], some_y[:at]
            yield True, some_x[at:], some_y[at:]

    def state(self) -> State:
        """The detector."""
        return self._detector.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave."""
        self._detector.restore(state)


def divider(boundaries: Boundaries, input_shape: tuple[int, ...]) -> Divider:
    """The divider that a setting stands for."""
    if boundaries == "told":
        return Announced()
    if boundaries == "detected":
        return Detected(input_shape)
    if isinstance(boundaries, int) and not isinstance(boundaries, bool) and boundaries >= 1:
        return FixedLength(boundaries)
    raise UsageError(
        f"boundaries is {boundaries!r}; it must be 'told', 'detected' or a number of examples of at least 1."
    )
