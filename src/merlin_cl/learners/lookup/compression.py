"""A network's offsets from its start in few bytes: each matrix as a product of two thin ones, or entry by entry in few values."""

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.learners.merlin.storage import LARGEST, PER_BYTE, Quantised, quantised
from merlin_cl.networks.network import Network
from merlin_cl.tensors import State

LARGEST_RANK = 48
"""More directions add bytes and nothing to accuracy."""
LEADING = 6
"""The first of every so many directions keeps 8 bits, the others 4: an error in the first counts most."""


class MatrixForm(NamedTuple):
    """How matrices are held: with a rank, or (rank 0) entry by entry, each in so many values."""

    rank: int
    levels: tuple[int, ...]
    """For every weight tensor, in the order of psi; 0 where it is held in 16 bits."""


def compressed(offsets: Tensor, network: Network, most: int) -> "Compressed":
    """Offsets [learned] in at most so many bytes, if there is a way: by directions or by entries, whichever is nearer to them."""
    tries = []
    for finest_first in (_by_rank(network), _by_entries(network)):
        fitting = (form for form in finest_first if bytes_of(network, form) <= most)
        form = next(fitting, None)
        if form is not None:
            tries.append(Compressed.of(offsets, network, form))
    if not tries:  # smaller than anything can be: the smallest there is
        return Compressed.of(offsets, network, list(_by_entries(network))[-1])
    return min(tries, key=lambda one: float((one.offsets(network) - offsets).norm()))


def _by_rank(network: Network) -> Iterator[MatrixForm]:
    """Every matrix by so many directions, the most first."""
    shapes = _shapes(network)
    most = max(_useful_rank(shape) for shape in shapes.values())
    for rank in range(min(LARGEST_RANK, most), 0, -1):
        yield MatrixForm(rank, tuple(0 for _ in shapes))


def _by_entries(network: Network) -> Iterator[MatrixForm]:
    """Every matrix entry by entry, the finest way first; then, one by one, the matrix that takes most bytes is made coarser.

    Small layers and the last one suffer most from few values, and a large one has most to spare. Vectors stay in 16 bits.
    """
    shapes, steps = _shapes(network), list(PER_BYTE)  # values, most first
    levels = {name: steps[0] for name, shape in shapes.items() if len(shape) > 1}
    yield MatrixForm(0, tuple(levels.get(name, 0) for name in shapes))
    while coarser := [name for name in levels if levels[name] > steps[-1]]:
        largest = max(coarser, key=lambda name: math.prod(shapes[name]) / PER_BYTE[levels[name]])
        levels[largest] = steps[steps.index(levels[largest]) + 1]
        yield MatrixForm(0, tuple(levels.get(name, 0) for name in shapes))


class Compressed(NamedTuple):
    """One network: of every weight tensor its stored parts."""

    form: MatrixForm
    parts: tuple[tuple[Tensor, ...], ...]

    @classmethod
    def of(cls, offsets: Tensor, network: Network, form: MatrixForm) -> "Compressed":
        """Offsets [learned] in a form."""
        shapes, parts, start = _shapes(network), [], 0
        for shape, levels in zip(shapes.values(), form.levels, strict=True):
            size = math.prod(shape)
            part, start = offsets[start : start + size], start + size
            parts.append(_held(part, shape, form.rank, levels))
        return cls(form, tuple(parts))

    def offsets(self, network: Network) -> Tensor:
        """What it stands for, [learned]."""
        shapes = _shapes(network)
        return torch.cat(
            [
                _given_back(parts, shape, levels)
                for parts, shape, levels in zip(self.parts, shapes.values(), self.form.levels, strict=True)
            ]
        )

    @property
    def bytes(self) -> int:
        """What is stored."""
        return sum(tensor.numel() * tensor.element_size() for part in self.parts for tensor in part)

    def state(self) -> State:
        """Tensors and plain values."""
        return {
            "rank": self.form.rank,
            "levels": list(self.form.levels),
            "parts": {
                str(at): {str(i): one.clone() for i, one in enumerate(part)} for at, part in enumerate(self.parts)
            },
        }

    @classmethod
    def restored(cls, state: State) -> "Compressed":
        """What `state()` was taken of."""
        parts = [state["parts"][str(at)] for at in range(len(state["levels"]))]
        return cls(
            MatrixForm(int(state["rank"]), tuple(state["levels"])),
            tuple(tuple(part[str(i)].clone() for i in range(len(part))) for part in parts),
        )


@cache
def bytes_of(network: Network, form: MatrixForm) -> int:
    """What a form takes."""
    total = 0
    for shape, levels in zip(_shapes(network).values(), form.levels, strict=True):
        size, rank = math.prod(shape), min(form.rank, _useful_rank(shape)) if len(shape) > 1 else 0
        leading = -(-rank // LEADING)
        if levels:
            total += -(-size // PER_BYTE[levels]) + 2
        elif rank:
            sides = (size // shape[-1], shape[-1])
            total += sum(leading * side + (rank - leading) * -(-side // 2) + 2 * rank for side in sides)
        else:
            total += 2 * size
    return total


def _shapes(network: Network) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in network.shapes.items() if name not in network.statistics}


def _useful_rank(shape: tuple[int, ...]) -> int:
    """The largest rank with which two thin matrices have fewer entries than the matrix itself."""
    rows, columns = math.prod(shape[:-1]), shape[-1]
    return (rows * columns - 1) // (rows + columns)


def _held(part: Tensor, shape: tuple[int, ...], rank: int, levels: int) -> tuple[Tensor, ...]:
    if levels:
        few = quantised(part.unsqueeze(0), [(0, len(part))], levels)
        if not any(few.kept):  # a tensor that never moved
            few = few._replace(
                digits=few.digits.new_zeros(1, -(-len(part) // PER_BYTE[levels])), units=part.new_zeros(1, 1).half()
            )
        return few.digits, few.units
    rank = min(rank, _useful_rank(shape)) if len(shape) > 1 else 0
    if not rank:
        return (part.clamp(-LARGEST, LARGEST).half(),)
    u, s, v = torch.linalg.svd(part.view(-1, shape[-1]), full_matrices=False)
    root = s[:rank].sqrt().unsqueeze(1)
    leading = -(-rank // LEADING)
    stored: list[Tensor] = []
    largest = torch.tensor([[127.0]] * leading + [[7.0]] * (rank - leading), device=part.device)
    for rows in (root * u[:, :rank].t(), root * v[:rank]):  # [rank, in], [rank, out]
        unit = (rows.abs().amax(dim=1, keepdim=True) / largest).clamp(max=LARGEST).half()
        whole = (rows / unit.float().clamp(min=6e-8)).round()
        first = whole[:leading].clamp(-127, 127).to(torch.int8)
        rest = torch.nn.functional.pad(whole[leading:].clamp(-7, 7) + 8, (0, rows.shape[1] % 2)).to(torch.uint8)
        stored += [first, rest[:, ::2] * 16 + rest[:, 1::2], unit]
    return tuple(stored)


def _given_back(parts: tuple[Tensor, ...], shape: tuple[int, ...], levels: int) -> Tensor:
    size = math.prod(shape)
    if levels:
        return Quantised(parts[0], parts[1], (True,), levels).points([(0, size)])[0]
    if len(parts) == 1:
        return parts[0].float()
    sides = []
    for (first, rest, unit), width in zip((parts[:3], parts[3:]), (size // shape[-1], shape[-1]), strict=True):
        nibbles = torch.stack([rest // 16, rest % 16], dim=-1).flatten(1)[:, :width].float() - 8
        sides.append(torch.cat([first.float(), nibbles]) * unit.float())
    return (sides[0].t() @ sides[1]).flatten()
