"""More memory asked for than there is: how that is noticed, and what is said of it. Free of torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

from merlin_cl.errors import MerlinError, ShortageError

if TYPE_CHECKING:
    from merlin_cl.learners.settings import MethodSettings

REFUSED = re.compile(
    r"can't allocate memory|out of memory|not enough memory|storage size calculation overflowed", re.IGNORECASE
)
"""How torch says, in a RuntimeError, that it was not given memory."""
BYTES = re.compile(r"tried to allocate (\d+) bytes")


@contextmanager
def shortages_explained(settings: MethodSettings, doing: str) -> Iterator[None]:
    """Say in a sentence which setting asks for more memory than there is; `doing` says in which work that came up."""
    try:
        yield
    except MerlinError:
        raise
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
            raise
        raise shortage(settings, doing, str(error)) from error


def is_shortage(error: Exception) -> bool:
    """Whether an error says that memory was refused.

    >>> is_shortage(MemoryError()), is_shortage(RuntimeError("CUDA out of memory.")), is_shortage(RuntimeError("size mismatch"))
    (True, True, False)
    """
    return isinstance(error, MemoryError) or REFUSED.search(str(error)) is not None


def shortage(settings: MethodSettings, doing: str, said: str) -> ShortageError:
    """The error for memory that was refused: how much, when, and what to lower.

    >>> from merlin_cl.learners.rivals.klda_settings import KLDASettings
    >>> print(shortage(KLDASettings(width=10**6), "learning task 0", "you tried to allocate 4000000000000 bytes"))
    klda was refused 4,000.0 GB of memory while learning task 0; lower width (1,000,000).
    """
    asked = BYTES.search(said)
    memory = f"{int(asked[1]) / 1e9:,.1f} GB of memory" if asked else "memory"
    raised = _most_raised(settings)
    advice = (
        f"lower {raised} ({getattr(settings, raised):,})"
        if raised
        else "give a smaller network, or inputs of fewer numbers"
    )
    return ShortageError(f"{settings.method} was refused {memory} while {doing}; {advice}.")


def _most_raised(settings: MethodSettings) -> str | None:
    """The whole number among the settings that is most times its default, if any is more than that."""
    times = {
        field.name: value / max(1, field.default)
        for field in fields(settings)
        if type(value := getattr(settings, field.name)) is int
        and field.default is not MISSING
        and value > field.default
    }
    return max(times, key=times.__getitem__, default=None)
