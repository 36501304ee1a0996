"""What is kept of the VAE between tasks, in fewer bytes: bases in 4 and 8 bits, all else in 16."""

from typing import Literal

import torch
from torch import Tensor

Precision = Literal["float32", "float16", "int8", "int4"]
Packed = dict[str, Tensor]
"""A tensor as it is stored: its numbers, and below 16 bits the size of a unit of each row; in `nibbles` two numbers a byte."""

LEADING = 6
"""In 4 bits, the first of every so many rows keeps 8: rows of a base come by size, and an error in the first counts most."""


def pack(tensor: Tensor, precision: Precision) -> Packed:
    """The stored form. In 8 and 4 bits a row (the last dimension) is a whole number of units, one unit a row.

    Vectors and other small tensors gain nothing from so few bits and are kept in 16.
    """
    if precision == "float32" or not tensor.is_floating_point():
        return {"numbers": tensor.clone()}
    if precision == "float16" or tensor.dim() < 3:
        return {"numbers": tensor.half()}
    rows = tensor.shape[-2]
    leading = rows if precision == "int8" else -(-rows // LEADING)
    first, rest = tensor.split([leading, rows - leading], dim=-2)
    numbers, unit = _whole_units(first, largest=127)
    if not rest.shape[-2]:
        return {"numbers": numbers, "unit": unit}
    small, small_unit = _whole_units(rest, largest=7)
    return {"numbers": numbers, "unit": unit, "nibbles": _two_a_byte(small), "small_unit": small_unit}


def unpack(packed: Packed) -> Tensor:
    """The tensor that a stored form stands for."""
    numbers = packed["numbers"]
    if "unit" not in packed:
        return numbers.float() if numbers.is_floating_point() else numbers.clone()
    first = numbers * packed["unit"].float()
    if "nibbles" not in packed:
        return first
    small = _one_by_one(packed["nibbles"], numbers.shape[-1])
    return torch.cat([first, small * packed["small_unit"].float()], dim=-2)


def stored_bytes(packed: Packed) -> int:
    """What the stored form takes."""
    return sum(tensor.numel() * tensor.element_size() for tensor in packed.values())


def _whole_units(rows: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """Rows as whole numbers from -largest to largest, int8, and what a unit is in each row, float16 [..., 1]."""
    unit = (rows.abs().amax(dim=-1, keepdim=True) / largest).clamp(min=1e-7).half()
    return (rows / unit.float()).round().clamp(-largest, largest).to(torch.int8), unit


def _two_a_byte(numbers: Tensor) -> Tensor:
    """Numbers from -7 to 7, int8 [..., n], as uint8 [..., ceil(n / 2)]."""
    shifted = torch.nn.functional.pad(numbers + 8, (0, numbers.shape[-1] % 2)).to(torch.uint8)
    return shifted[..., ::2] * 16 + shifted[..., 1::2]


def _one_by_one(nibbles: Tensor, width: int) -> Tensor:
    """What `_two_a_byte` packed, the first `width` of each row, int8."""
    pairs = torch.stack([nibbles // 16, nibbles % 16], dim=-1)
    return pairs.flatten(-2)[..., :width].to(torch.int8) - 8
