"""Points of the latent space in few bits: what is kept of p(z | t) between tasks."""

from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.tensors import State

PER_BYTE = {16: 2, 6: 3, 4: 4, 3: 5, 2: 8}
"""How many numbers share a byte, by how many values each may have."""
CLIPPINGS = 24
"""Places tried for the outermost value of a part, from its largest number down to an eighth of it."""
SMALLEST, LARGEST = 6e-8, 65504.0
"""Of 16-bit numbers above zero."""


class Quantised(NamedTuple):
    """C points z, [C, size]: every part of z in whole steps of its own unit. Parts that are zero in all points are not kept."""

    digits: Tensor  # uint8 [C, bytes]: the numbers of the parts that are kept, several a byte
    units: Tensor  # float16 [C, kept parts]: the distance of neighbouring values
    kept: tuple[bool, ...]  # which parts are
    levels: int  # values a number may have

    @property
    def bytes(self) -> int:
        """What is stored: digits, units, and a bit for every part."""
        return self.digits.numel() + 2 * self.units.numel() + -(-len(self.kept) // 8)

    def points(self, groups: list[tuple[int, int]]) -> Tensor:
        """z, [C, size], whose parts begin and end at `groups`."""
        numbers, part = self.places(groups)
        z = torch.zeros(len(self.digits), groups[-1][1], device=self.digits.device)
        steps = _unpacked(self.digits, len(numbers), self.levels) - (self.levels - 1) / 2
        z[:, numbers] = steps * self.units.float()[:, part]
        return z

    def places(self, groups: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """Where in z the numbers that are kept are, and which of the kept parts each belongs to: int64 [n] both."""
        return _places(groups, self.kept, self.digits.device)

    def first(self, count: int) -> "Quantised":
        """The first `count` points."""
        return self._replace(digits=self.digits[:count].clone(), units=self.units[:count].clone())

    def state(self) -> State:
        """Tensors and plain values."""
        return {
            "digits": self.digits.clone(),
            "units": self.units.clone(),
            "kept": list(self.kept),
            "levels": self.levels,
        }

    @classmethod
    def restored(cls, state: State) -> "Quantised":
        """What `state()` was taken of."""
        return cls(
            state["digits"].clone(), state["units"].clone(), tuple(map(bool, state["kept"])), int(state["levels"])
        )


def quantised(z: Tensor, groups: list[tuple[int, int]], levels: int) -> Quantised:
    """Points z [C, size] in `levels` values a number, with the unit for every part that leaves the least square error."""
    filled = torch.nn.functional.pad(
        (z != 0).any(dim=0).cumsum(0), (1, 0)
    )  # numbers before each that are not always zero
    starts, stops = torch.tensor(groups, device=z.device).unbind(dim=1)
    kept = tuple((filled[stops] > filled[starts]).tolist())
    numbers, part = _places(groups, kept, z.device)
    values = z[:, numbers]
    units = _units(values, part, sum(kept), levels)
    digits = rounded(values, units.float()[:, part], levels)
    return Quantised(_packed(digits.to(torch.uint8), levels), units, kept, levels)


def rounded(values: Tensor, units: Tensor, levels: int) -> Tensor:
    """Which of the values 0 to levels - 1 each number is nearest to; the middle one, or two, are next to zero."""
    return (values / units + (levels - 1) / 2).round_().clamp_(0, levels - 1)


def _units(values: Tensor, part: Tensor, parts: int, levels: int) -> Tensor:
    """The best unit of every part, float16 [C, parts], for values [C, n] that belong to `part`, int64 [n]."""
    top = values.new_zeros(len(values), parts).scatter_reduce_(1, part.expand_as(values), values.abs(), "amax")
    least = torch.full_like(top, torch.inf)
    best = top.clamp(SMALLEST, LARGEST)
    for clipping in torch.logspace(0, -3, CLIPPINGS, base=2).tolist():
        unit = (2 * clipping / levels * top).clamp(SMALLEST, LARGEST).half().float()
        each = unit[:, part]
        error = (rounded(values, each, levels) - (levels - 1) / 2) * each - values
        total = torch.zeros_like(top).index_add_(1, part, error.square_())
        best, least = torch.where(total < least, unit, best), total.minimum(least)
    return best.half()


def _places(groups: list[tuple[int, int]], kept: tuple[bool, ...], device: torch.device) -> tuple[Tensor, Tensor]:
    """Where in z the numbers of the kept parts are, and which of the kept parts each belongs to: int64 [n] both."""
    bounds = torch.tensor(groups)[torch.tensor(kept, dtype=torch.bool)]  # [kept parts, 2]
    widths = bounds[:, 1] - bounds[:, 0]
    part = torch.repeat_interleave(widths)
    numbers = torch.arange(len(part)) + (bounds[:, 1] - widths.cumsum(0))[part]
    return numbers.to(device), part.to(device)


def _packed(digits: Tensor, levels: int) -> Tensor:
    """Digits, uint8 [C, n], as bytes [C, ceil(n / per byte)], the first digit of a byte the leading one."""
    each = PER_BYTE[levels]
    digits = torch.nn.functional.pad(digits, (0, -digits.shape[1] % each))
    packed = torch.zeros_like(digits[:, ::each])
    for place in range(each):
        packed = packed * levels + digits[:, place::each]
    return packed


def _unpacked(packed: Tensor, count: int, levels: int) -> Tensor:
    """The first `count` digits of each row."""
    each = PER_BYTE[levels]
    digits = torch.stack([packed // levels**place % levels for place in reversed(range(each))], dim=-1)
    return digits.flatten(1)[:, :count]
