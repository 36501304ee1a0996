"""Arrays, tensors and nested lists, brought to the tensors that networks take."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError

Array = np.ndarray[Any, Any]


def as_array(values: Any) -> Array:
    """A tensor, array or nested list as an array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values.float() if values.is_floating_point() else values).numpy()
    return np.asarray(values)


def input_shape(shape: tuple[int, ...], dtype: Any) -> tuple[int, ...]:
    """The shape of one input as a network gets it: images have their channels first, grey ones a single channel.

    >>> input_shape((60, 28, 28), np.dtype("u1")), input_shape((60, 32, 32, 3), np.dtype("u1")), input_shape((60, 5), float)
    ((1, 28, 28), (3, 32, 32), (5,))
    """
    kind = np.dtype(dtype).kind
    if kind not in "biuf":
        raise InputError(f"Inputs are of type {np.dtype(dtype)}; give numbers.")
    if len(shape) < 2:
        raise InputError(
            f"Inputs have shape {list(shape)}; give [examples, ...], an input having one dimension at least."
        )
    if np.dtype(dtype) == np.uint8 and len(shape) == 3:
        return (1, *shape[1:])
    if _channels_last(shape):
        return (shape[3], shape[1], shape[2])
    return tuple(shape[1:])


def as_inputs(x: Array) -> Tensor:
    """Inputs as a network gets them: bytes stay bytes, all else becomes float."""
    shape = input_shape(x.shape, x.dtype)
    if _channels_last(x.shape):
        x = np.moveaxis(x, 3, 1)
    kind = np.uint8 if x.dtype == np.uint8 else np.float32
    with np.errstate(over="ignore"):  # too large for a float becomes infinite, which is refused later
        return torch.from_numpy(np.array(x, dtype=kind, order="C")).reshape(len(x), *shape)


def _channels_last(shape: tuple[int, ...]) -> bool:
    return len(shape) == 4 and shape[3] in (1, 3) and shape[1] not in (1, 3)
