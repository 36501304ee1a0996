"""Numbers that are no longer finite: how they are noticed, and what is said of a method that has them."""

import math
import re
from typing import Any

import torch
from torch import Tensor
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # documented, but not declared

from merlin_cl.errors import DivergenceError, InputError
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.tensors import largest

LARGEST_INPUT = 1e15
"""Sums of squares of larger numbers leave the range of single precision, 3e38."""
USUAL_INPUT = 10.0
"""Inputs are best about 1; of larger ones than this a method that diverges is told."""
RATES = ("learning_rate", "fine_tune_rate")
"""Settings that say how large a method's steps are, where it has them."""

ALWAYS_FINITE = {int, bool, str, type(None)}
"""Of plain values, those that need not be looked at: long lists may consist of them."""
NOT_NUMBERS = re.compile(r"\b(nans?|infs?|infinity|infinite|non-?finite)\b", re.IGNORECASE)
"""How libraries speak of numbers that they cannot take."""


def require_computable(x: Tensor) -> None:
    """Refuse inputs that no method could learn from or answer to with finite numbers."""
    size = largest(x)
    if not math.isfinite(size):
        raise InputError(
            "Inputs hold NaN, infinity or numbers too large for single precision; fill them in, leave them out or scale them."
        )
    if size > LARGEST_INPUT:
        raise InputError(
            f"Inputs hold a number of size {size:.3g}, too large to compute with in single precision (at most "
            f"{LARGEST_INPUT:g}); scale inputs to about 1 first."
        )


def is_finite(state: Any) -> bool:
    """Whether all numbers in nested dictionaries and lists of tensors and plain values are finite.

    >>> is_finite({"weights": torch.ones(2), "shares": [0.5]}), is_finite({"shares": [float("inf")]})
    (True, False)
    """
    if isinstance(state, Tensor):
        if not state.is_floating_point() or math.isfinite(state.sum()):
            return True  # no sum with NaN or infinity in it is finite
        return bool(torch.isfinite(state).all())  # that of finite numbers may not be either
    if isinstance(state, dict | list | tuple):
        values = state.values() if isinstance(state, dict) else state
        return set(map(type, values)) <= ALWAYS_FINITE or all(map(is_finite, values))
    return not isinstance(state, float) or math.isfinite(state)


def divergence(settings: MethodSettings, doing: str, what: str, largest_input: float) -> DivergenceError:
    """The error for a method that has gone astray: what happened, when, and what to do.

    >>> from merlin_cl.learners.rivals.single_settings import SingleSettings
    >>> print(divergence(SingleSettings(), "answering", "it is lost", largest_input=1.0))
    single diverged while answering, as it is lost; lower learning_rate (0.001), and begin anew.
    """
    rates = [f"{name} ({getattr(settings, name):g})" for name in RATES if hasattr(settings, name)]
    advice = f"lower {' and '.join(rates) or 'the learning rate'}"
    if largest_input > USUAL_INPUT:
        advice = f"scale the inputs, of which the largest is {largest_input:.3g}, to about 1, or {advice}"
    return DivergenceError(f"{settings.method} diverged while {doing}, as {what}; {advice}, and begin anew.")


def is_breakdown(error: Exception) -> bool:
    """Whether an error is of arithmetic: it is one by its type, or a library that checks its numbers says that they are not.

    >>> is_breakdown(ValueError("array must not contain infs or NaNs")), is_breakdown(ValueError("a banana is missing"))
    (True, False)
    """
    return isinstance(error, ArithmeticError | LinAlgError) or NOT_NUMBERS.search(str(error)) is not None


def breakdown(error: BaseException) -> str:
    """What happened, in the words of an arithmetic error: its first sentence."""
    said = " ".join(str(error).split(". ")[0].split()).rstrip(".")
    return f"a computation broke down ({said or type(error).__name__})"
