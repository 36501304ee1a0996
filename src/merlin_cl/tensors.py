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


def rows(values: Tensor, places: Tensor) -> Tensor:
    """values[places], several times faster where a row is more than a few numbers."""
    return values.index_select(0, places.flatten()).view(*places.shape, *values.shape[1:])
