"""What learners and those who hold one share about tensors: a state's type, inputs as floats, rows picked, masked logits."""

from typing import Any

import torch
from torch import Tensor

State = dict[str, Any]
"""Nested dictionaries of tensors and of values that JSON can hold."""

MASKED = -1e10
"""The logit of a class that may not be answered (the paper's value)."""


def as_float(x: Tensor) -> Tensor:
    """Inputs as a network takes them: bytes become numbers from 0 to 1."""
    return x.float().div_(255) if x.dtype == torch.uint8 else x


def largest(x: Tensor) -> float:
    """The largest absolute value of inputs as a network takes them; NaN if any number is."""
    if x.numel() == 0:
        return 0.0
    return 1.0 if x.dtype == torch.uint8 else float(x.abs().amax())


def rows(values: Tensor, places: Tensor) -> Tensor:
    """values[places], several times faster where a row is more than a few numbers."""
    return values.index_select(0, places.flatten()).view(*places.shape, *values.shape[1:])


def bytes_of(state: Any) -> int:
    """What the tensors of nested dictionaries and lists take, each in its own precision.

    >>> bytes_of({"moments": [torch.zeros(2)], "seen": torch.zeros(3, dtype=torch.uint8), "steps": 7})
    11
    """
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    if isinstance(state, dict):
        return sum(map(bytes_of, state.values()))
    return sum(map(bytes_of, state)) if isinstance(state, list | tuple) else 0


RANDOM_STATE = len(torch.Generator().get_state())
"""Bytes of a generator's state, which stays on the CPU as its generator does."""


def copied(state: Any, device: torch.device | None = None) -> Any:
    """The same nested dictionaries and lists with tensors of their own, whatever becomes of the first.

    With `device` they are there, but for the states of generators.

    >>> kept = {"moments": [torch.zeros(2)]}
    >>> apart = copied(kept)
    >>> kept["moments"][0] += 1
    >>> apart
    {'moments': [tensor([0., 0.])]}
    """
    if isinstance(state, Tensor):
        random = state.dtype == torch.uint8 and state.shape == (RANDOM_STATE,)
        return state.detach().clone() if device is None or random else state.detach().to(device, copy=True)
    if isinstance(state, dict):
        return {key: copied(value, device) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return type(state)(copied(value, device) for value in state)
    return state
