"""What is kept of the VAE between tasks, in fewer bytes: bases in 8 bits, all else in 16."""

from typing import Literal

import torch
from torch import Tensor

Precision = Literal["float32", "float16", "int8"]
Packed = dict[str, Tensor]
"""A tensor as it is stored: its numbers, and for 8 bits the size of a unit of each row."""


def pack(tensor: Tensor, precision: Precision) -> Packed:
    """The stored form. In 8 bits a row (the last dimension) is a whole number of units, one unit a row.

    Vectors and other small tensors gain nothing from 8 bits and are kept in 16.
    """
    if precision == "float32" or not tensor.is_floating_point():
        return {"numbers": tensor.clone()}
    if precision == "float16" or tensor.dim() < 3:
        return {"numbers": tensor.half()}
    unit = (tensor.abs().amax(dim=-1, keepdim=True) / 127).clamp(min=1e-12).float()
    return {"numbers": (tensor / unit).round().to(torch.int8), "unit": unit}


def unpack(packed: Packed) -> Tensor:
    """The tensor that a stored form stands for."""
    numbers = packed["numbers"]
    if "unit" in packed:
        return numbers.float() * packed["unit"]
    return numbers.float() if numbers.is_floating_point() else numbers.clone()


def stored_bytes(packed: Packed) -> int:
    """What the stored form takes."""
    return sum(tensor.numel() * tensor.element_size() for tensor in packed.values())
