"""What is kept of the VAE between tasks, in fewer bytes: bases in 8 bits or fewer, all else in 16."""

from typing import Literal

import torch
from torch import Tensor

Precision = Literal["float32", "float16", "int8", "int4"]
Packed = dict[str, Tensor]
"""A tensor as it is stored: its numbers, and below 16 bits the size of a unit of each row; in `nibbles` two numbers a byte, in
`shared` as many as `layout` says beside the length of a row."""

LEADING = 6
"""In 4 bits, the first of every so many rows keeps 8: rows of a base come by size, and an error in the first counts most."""
VALUES = {2: 16, 3: 6, 5: 3, 8: 2}
"""How many values there are for a number that shares a byte with others, by how many share it; where they are even, one is
never taken, so that zero is among them. Of two, both are: the sign is all that is kept of a number."""
CLIPPINGS = 32
"""Places tried for the largest value of a row, from its largest number down to a sixteenth of it."""


def pack(tensor: Tensor, precision: Precision, a_byte: int = 1) -> Packed:
    """The stored form. In 8 and 4 bits a row (the last dimension) is a whole number of units, one unit a row.

    Vectors and other small tensors gain nothing from so few bits and are kept in 16. With `int4`, `a_byte` numbers, if more than
    one, share a byte, and a row's unit is the one that leaves the least square error.
    """
    if precision == "float32" or not tensor.is_floating_point():
        return {"numbers": tensor.clone()}
    if precision == "float16" or tensor.dim() < 3:
        return {"numbers": tensor.half()}
    if precision == "int4" and a_byte > 1:
        signs_alone = VALUES[a_byte] == 2
        numbers, unit = _signs(tensor) if signs_alone else _nearest_units(tensor, largest=(VALUES[a_byte] - 1) // 2)
        layout = torch.tensor([tensor.shape[-1], a_byte], dtype=torch.int32)
        return {"shared": _share(numbers, a_byte), "unit": unit, "layout": layout}
    rows = tensor.shape[-2]
    leading = rows if precision == "int8" else -(-rows // LEADING)
    first, rest = tensor.split([leading, rows - leading], dim=-2)
    numbers, unit = _whole_units(first, largest=127)
    if not rest.shape[-2]:
        return {"numbers": numbers, "unit": unit}
    small, small_unit = _whole_units(rest, largest=7)
    return {"numbers": numbers, "unit": unit, "nibbles": _share(small, 2), "small_unit": small_unit}


def unpack(packed: Packed) -> Tensor:
    """The tensor that a stored form stands for."""
    if "shared" in packed:
        return _separate(packed["shared"], *packed["layout"].tolist()) * packed["unit"].float()
    numbers = packed["numbers"]
    if "unit" not in packed:
        return numbers.float() if numbers.is_floating_point() else numbers.clone()
    first = numbers * packed["unit"].float()
    if "nibbles" not in packed:
        return first
    small = _separate(packed["nibbles"], numbers.shape[-1], 2)
    return torch.cat([first, small * packed["small_unit"].float()], dim=-2)


def stored_bytes(packed: Packed) -> int:
    """What the stored form takes."""
    return sum(tensor.numel() * tensor.element_size() for tensor in packed.values())


def _whole_units(rows: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """Rows as whole numbers from -largest to largest, int8, and what a unit is in each row, float16 [..., 1]."""
    exact = (rows.abs().amax(dim=-1, keepdim=True) / largest).clamp(min=1e-7)
    unit = exact.half()
    # Below 2^-14 16 bits have steps of 2^-24: rounded up, a unit would leave the largest number fewer whole units than before.
    unit = torch.where((unit.float() > exact) & (exact < 2**-14), (unit.float() - 2**-24).half(), unit)
    return (rows / unit.float()).round().clamp(-largest, largest).to(torch.int8), unit


def _nearest_units(rows: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """As `_whole_units`, with a row's few largest numbers cut off where that brings all others nearer.

    Rows that already are whole units stay as they are: the first place tried leaves no error.
    """
    numbers, unit = _whole_units(rows, largest)
    if not rows.any():
        return numbers, unit
    least = (numbers * unit.float() - rows).square().sum(dim=-1, keepdim=True)
    for clipping in torch.logspace(0, -4, CLIPPINGS, base=2).tolist()[1:]:
        top = rows.abs().amax(dim=-1, keepdim=True) * clipping
        others, other_unit = _whole_units(rows.clamp(-top, top), largest)
        error = (others * other_unit.float() - rows).square().sum(dim=-1, keepdim=True)
        better = error < least
        numbers, unit, least = (
            torch.where(better, new, old) for new, old in ((others, numbers), (other_unit, unit), (error, least))
        )
    return numbers, unit


def _signs(rows: Tensor) -> tuple[Tensor, Tensor]:
    """As `_whole_units`, with 1 for a number that is not negative and -1 for one that is."""
    unit = rows.abs().mean(dim=-1, keepdim=True).half()
    return torch.where(rows < 0, -1, 1).to(torch.int8), unit


def _share(numbers: Tensor, a_byte: int) -> Tensor:
    """Small whole numbers, int8 [..., n], as the digits of uint8 [..., ceil(n / a_byte)], the first number the leading one."""
    base = VALUES[a_byte]
    digits = (numbers + 1) // 2 if base == 2 else numbers + base // 2
    digits = torch.nn.functional.pad(digits, (0, -numbers.shape[-1] % a_byte)).to(torch.uint8)
    shared = torch.zeros_like(digits[..., ::a_byte])
    for place in range(a_byte):
        shared = shared * base + digits[..., place::a_byte]
    return shared


def _separate(shared: Tensor, width: int, a_byte: int) -> Tensor:
    """What `_share` packed, the first `width` of each row, int8."""
    base = VALUES[a_byte]
    digits = torch.stack([shared // base**place % base for place in reversed(range(a_byte))], dim=-1)
    numbers = digits.flatten(-2)[..., :width].to(torch.int8)
    return 2 * numbers - 1 if base == 2 else numbers - base // 2
