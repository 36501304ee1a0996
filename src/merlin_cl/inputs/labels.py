"""What users call classes and tasks, as text. Free of torch."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from merlin_cl.errors import InputError


def names_of(values: Iterable[Any], missing: Callable[[int], str]) -> list[str]:
    """Labels or tasks of any kind as text; where one is missing, `missing` tells from its position what to complain of."""
    known: dict[Any, str | None] = {}
    names = []
    for position, value in enumerate(values):
        try:
            if value not in known:
                known[value] = name_of(value)
            name = known[value]
        except TypeError:  # not hashable: a list, an array
            name = name_of(value)
        if name is None:
            raise InputError(missing(position))
        names.append(name)
    return names


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
