"""Loops that Python would take too long over, as machine code. numba brings its compiler along, so nobody needs one of their own.

Importing numba takes a third of a second: modules with such loops are imported where they are called.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])
OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
"""Sums may be taken in another order, which lets them be taken many at once; it is the same order every time."""


def compiled(function: Function) -> Function:
    """The function as machine code, kept for the next process where there is a folder to keep it in."""
    try:
        machine_code: Function = numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written to
        machine_code = numba.njit(**OPTIONS)(function)
    return machine_code
