"""Examples as a user has them: inputs that are read when wanted, labels and tasks under any name. Free of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from merlin_cl.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from merlin_cl.inputs.encoding import TableEncoding


@dataclass(frozen=True)
class Examples:
    """N examples."""

    labels: Sequence[str]
    """The name of each one's class."""
    tasks: Sequence[str] | None
    """The name of each one's task; None where nobody says."""
    inputs: Callable[[], Tensor | Sequence[str]]
    """Reads the inputs: uint8 or float [N, *input_shape], or texts."""
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
    """Of one input; texts have none."""
    train: Examples
    test: Examples | None = None
    """None: a part of the others is split off."""
    standardise: bool = False
    """Whether numbers are brought to mean 0 and variance 1, as measured on the first task."""
    columns: tuple[str, ...] = ()
    """The columns of a table that are learned from, in order."""
    encoding: TableEncoding | None = None
    """How texts in these columns become numbers."""
    fill: bool = False
    """Whether numbers that are missing are filled in with the mean of the first task's."""
    tasks_from: str = "a task for each example"
    """How data of this form may say which task an example belongs to."""
