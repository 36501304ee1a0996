"""Examples as a user has them: inputs that are read when wanted, labels and tasks under any name. Free of torch."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merlin_cl.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Examples:
    """N examples."""

    labels: Sequence[str]
    """The name of each one's class."""
    tasks: Sequence[str] | None
    """The name of each one's task; None where nobody says."""
    inputs: Callable[[], Tensor]
    """Reads the inputs: uint8 or float [N, *input_shape]."""
    named: Callable[[int], str]
    """What to call an example in a message: `row 3 of data.csv`."""

    def __post_init__(self) -> None:
        if self.tasks is not None and len(self.tasks) != len(self.labels):
            raise InputError(
                f"There are {len(self.labels):,} labels but {len(self.tasks):,} tasks; give a task for each example."
            )

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class OwnData:
    """A user's data, read as far as is needed to know what stream they will make."""

    place: str
    """What they are and where, in words."""
    input_shape: tuple[int, ...]
    train: Examples
    test: Examples | None = None
    """None: a part of the others is split off."""
    standardise: bool = False
    """Whether numbers are brought to mean 0 and variance 1, as measured on the first task."""
    columns: tuple[str, ...] = ()
    """The columns of a table that are learned from, in order."""
    tasks_from: str = "a task for each example"
    """How data of this form may say which task an example belongs to."""


def names_of(values: Iterable[Any], missing: Callable[[int], str]) -> list[str]:
    """Labels or tasks of any kind as text; where one is missing, `missing` tells from its position what to complain of."""
    known: dict[Any, str | None] = {}
    found = []
    for position, value in enumerate(values):
        try:
            if value not in known:
                known[value] = name_of(value)
            name = known[value]
        except TypeError:  # not hashable: a list, an array
            name = name_of(value)
        if name is None:
            raise InputError(missing(position))
        found.append(name)
    return found


def name_of(value: Any) -> str | None:
    """One label as text, None if it is missing; 3, 3.0 and numpy's 3 are the same label.

    >>> [name_of(value) for value in (3, 3.0, "cat", True, float("nan"), None, " ")]
    ['3', '3', 'cat', 'True', None, None, None]
    """
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float):
        if math.isnan(value):
            return None
        value = int(value) if value.is_integer() else value
    text = value.decode() if isinstance(value, bytes) else str(value)
    return text.strip() or None


def in_order(names: Iterable[str]) -> list[str]:
    """Names sorted as people do: numbers by value, also within text.

    >>> in_order(["task10", "task9", "Task1"]), in_order({"10", "-2", "9"})
    (['Task1', 'task9', 'task10'], ['-2', '9', '10'])
    """
    listed = list(names)
    try:
        return sorted(listed, key=float)
    except ValueError:
        return sorted(listed, key=lambda name: (_natural(name.casefold()), name))


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", text)
    return [(0, int(part), "") if at % 2 else (1, 0, part) for at, part in enumerate(parts) if part]
