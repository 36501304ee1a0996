"""Examples that come one after another: (x, y, task), or (x, y) where the classes say the task."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from merlin_cl.errors import InputError
from merlin_cl.streams.user_data.arrays import Array, Part, as_array


def gathered(examples: Iterable[Any], what: str = "example") -> Part:
    """All examples in arrays. They are taken once, and must have inputs of one shape."""
    inputs: list[Array] = []
    labels: list[Any] = []
    tasks: list[Any] = []
    for position, example in enumerate(examples):
        try:
            x, y, *task = example
        except (TypeError, ValueError):
            raise InputError(f"{what.capitalize()} {position} is not (x, y, task) or (x, y).") from None
        array = as_array(x)
        if array.ndim == 0 or array.dtype.kind not in "biuf":
            raise InputError(f"The input of {what} {position} is not an array of numbers but {type(x).__name__}.")
        if inputs and array.shape != inputs[0].shape:
            raise InputError(
                f"The input of {what} {position} has shape {list(array.shape)}, those before it {list(inputs[0].shape)}; give "
                "all the same."
            )
        if len(task) > 1 or (position and bool(task) != bool(tasks)):
            raise InputError(
                f"{what.capitalize()} {position} is not made as those before it; give (x, y, task) throughout."
            )
        inputs.append(array)
        labels.append(y)
        tasks += task
    if not inputs:
        raise InputError(f"The iterable gave no {what}s; perhaps it was used up before.")
    return np.stack(inputs), labels, tasks or None
