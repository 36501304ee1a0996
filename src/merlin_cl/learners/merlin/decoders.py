"""Two ways to make weights from a latent z: the paper's, chunk by chunk, and ours, as a sum of low-rank bases."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.learners.merlin.storage import VALUES, Packed, unpack
from merlin_cl.networks.network import Network

SMALLEST_SCALE = 1e-7
"""The least that is not zero in the 16 bits a scale is kept in: a chunk that no model has moved is divided by it, too."""
HARDLY = 1e-3
"""A layer whose offsets are this small beside those of all layers has hardly moved."""


class Decoder(nn.Module, ABC):
    """p(psi | z): the chunks of a model's weight offsets, each in units of its scale."""

    scale: Tensor
    """What each chunk is divided by before the VAE sees it, [K, 1]."""

    def __init__(self, chunks: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(chunks, 1))

    @abstractmethod
    def forward(self, z: Tensor, positions: Tensor) -> Tensor:
        """Scaled chunks [M, S, size] at `positions`, int64 [S], from z [M, latent] (or [M, S, latent]: one a chunk)."""

    @abstractmethod
    def rescale(self, chunks: Tensor) -> None:
        """Choose the scale that suits the models at hand, from their chunks [M, K, size]."""


class ChunkDecoder(Decoder):
    """The paper's: a small network from z and a learned embedding of the chunk's position to the chunk."""

    def __init__(self, chunks: int, size: int, hidden: int, latent: int, embedding: int, per_model: bool) -> None:
        super().__init__(chunks)
        self._per_model = per_model
        self._widths = [latent, embedding]
        self.first = nn.Linear(latent + embedding, hidden)
        self.last = nn.Linear(hidden, size)
        self.embedding = nn.Embedding(chunks, embedding)

    def forward(self, z: Tensor, positions: Tensor) -> Tensor:
        """As `Decoder` says."""
        if self._per_model:
            z = z.unsqueeze(-2)
        # The first layer of [z, embedding] in two parts: a z that all chunks of a model share is multiplied once.
        of_z, of_embedding = self.first.weight.split(self._widths, dim=1)
        h = z @ of_z.t() + (self.embedding(positions) @ of_embedding.t() + self.first.bias)
        scaled: Tensor = self.last(h.relu())
        return scaled

    def rescale(self, chunks: Tensor) -> None:
        """The root mean square of each chunk. A chunk that no model has moved has none; any scale will do."""
        self.scale = chunks.square().mean(dim=(0, 2)).sqrt().clamp(min=SMALLEST_SCALE).unsqueeze(1)


class Form(NamedTuple):
    """How a base holds the weights of a model."""

    rank: int
    whole: frozenset[str]
    """Names of the weights that are held entry by entry, for which two thin matrices would be no smaller."""
    a_byte: frozenset[tuple[str, int]] = frozenset()
    """Of matrices that are held so, how many entries share a byte."""

    @classmethod
    def of_rank(cls, network: Network, rank: int) -> "Form":
        """The smaller way for every weight."""
        sizes = {name: (math.prod(shape[:-1]), shape[-1]) for name, shape in network.shapes.items()}
        whole = frozenset(name for name, (a, b) in sizes.items() if rank * (a + b) >= a * b)
        return cls(rank if len(whole) < len(sizes) else 0, whole)

    @classmethod
    def of_entries(cls, network: Network) -> Iterator["Form"]:
        """Every weight entry by entry, the finest way first; then, one by one, the matrix that takes most bytes is made coarser.

        Small layers and the last one suffer most from few values, and a large one has most to spare. Signs alone are for where
        even three values in every matrix are too many, and not for outputs: of classes to come a base must hold nothing.
        """
        steps = sorted(VALUES)
        matrices = {name: math.prod(shape) for name, shape in network.shapes.items() if len(shape) > 1}
        a_byte = dict.fromkeys(matrices, steps[0])
        yield cls(0, frozenset(network.shapes), frozenset(a_byte.items()))
        hidden = [name for name in matrices if name not in network.head]
        for coarsest, coarser in ((steps[-2], [*matrices]), (steps[-1], hidden)):
            while taken := {name: matrices[name] / a_byte[name] for name in coarser if a_byte[name] < coarsest}:
                largest = max(taken, key=taken.__getitem__)
                a_byte[largest] = steps[steps.index(a_byte[largest]) + 1]
                yield cls(0, frozenset(network.shapes), frozenset(a_byte.items()))

    @classmethod
    def stored(cls, network: Network, parameters: Mapping[str, Packed]) -> "Form":
        """That of a decoder of which this is stored."""
        names = {name.replace(".", "_"): name for name in network.shapes}
        whole = {names[key[len("whole.") :]]: packed for key, packed in parameters.items() if key.startswith("whole.")}
        a_byte = {name: int(packed["layout"][1]) for name, packed in whole.items() if "layout" in packed}
        ranks = [unpack(packed).shape[1] for key, packed in parameters.items() if key.startswith("left.")]
        return cls(max(ranks, default=0), frozenset(whole).union(network.statistics), frozenset(a_byte.items()))


class FactorDecoder(Decoder):
    """A model is a sum of bases weighted by z, one base a latent; a base holds each matrix as a product of two thin ones, or
    entry by entry.

    What a task changes in a layer is nearly of low rank: a dozen directions keep its accuracy, while its entries, chunk by
    chunk, look like noise to a small network. Being linear in z, the average of two tasks' z is the average of their models.
    """

    def __init__(self, network: Network, chunks: int, size: int, bases: int, form: Form) -> None:
        super().__init__(chunks)
        self.form = form
        self._chunks, self._size = chunks, size
        self._layers: list[tuple[str, int]] = []  # key and numbers of each weight, in the order of psi
        self.left, self.right, self.whole = (nn.ParameterDict() for _ in range(3))
        self.a_byte = {f"whole.{name.replace('.', '_')}": count for name, count in form.a_byte}
        """How many numbers of a parameter share a byte where it is stored, if not one."""
        for name, shape in network.shapes.items():
            if name in network.statistics:
                continue
            numbers, outputs, key = math.prod(shape), shape[-1], name.replace(".", "_")
            inputs = numbers // outputs
            if name in form.whole:
                self.whole[key] = nn.Parameter(torch.zeros(bases, 1, numbers))
            else:
                self.left[key] = nn.Parameter(torch.zeros(bases, form.rank, inputs))
                self.right[key] = nn.Parameter(torch.zeros(bases, form.rank, outputs))
            self._layers.append((key, numbers))

    @property
    def numbers(self) -> int:
        """Weights that the bases hold."""
        return sum(numbers for _, numbers in self._layers)

    def forward(self, z: Tensor, positions: Tensor) -> Tensor:
        """As `Decoder` says, for z [M, latent]."""
        return self._cut(self.offsets(z))[:, positions] / self.scale[positions]

    def offsets(self, z: Tensor) -> Tensor:
        """The weighted sum of bases, [M, numbers]: sum over j of z_j L_j' R_j for each matrix."""
        found = []
        for key, _ in self._layers:
            if key in self.whole:
                found.append(z @ self.whole[key].flatten(1))
            else:
                left, right = self.left[key].flatten(0, 1), self.right[key]  # [J * r, in], [J, r, out]
                weighted = (z[:, :, None, None] * right).flatten(1, 2)  # [M, J * r, out]
                found.append((left.t() @ weighted).flatten(1))
        return torch.cat(found, dim=1)

    @torch.no_grad()
    def absorb(self, base: int, offsets: Tensor) -> None:
        """Set one base to the best approximation of a model's offsets, [numbers], by singular value decomposition."""
        for (key, _), part in zip(self._layers, offsets.split([numbers for _, numbers in self._layers]), strict=True):
            if key in self.whole:
                self.whole[key][base] = part
                continue
            rank, inputs = self.left[key].shape[1:]
            u, s, v = torch.linalg.svd(part.view(inputs, -1), full_matrices=False)
            root = s[:rank].sqrt().unsqueeze(1)
            self.left[key][base] = root * u[:, :rank].t()
            self.right[key][base] = root * v[:rank]

    def rescale(self, chunks: Tensor) -> None:
        """The root mean square of each layer, for every chunk that begins in it: a base is fitted best by absolute errors.

        A layer that has hardly moved, as with inputs of zero, has that of all: its last chunk goes on into one that has.
        """
        squares, found, start = chunks.square().mean(dim=0).flatten(), [], 0
        for _, numbers in self._layers:
            found.append(squares[start : start + numbers].mean().sqrt())
            start += numbers
        of_layers, of_all = torch.stack(found), squares.mean().sqrt()
        of_layers = torch.where(of_layers > HARDLY * of_all, of_layers, of_all).clamp(min=SMALLEST_SCALE)
        layers = torch.tensor([numbers for _, numbers in self._layers]).cumsum(0)
        begins = torch.arange(self._chunks) * self._size
        self.scale = of_layers[torch.searchsorted(layers, begins, right=True)].unsqueeze(1)

    def _cut(self, offsets: Tensor) -> Tensor:
        """[M, numbers] as chunks [M, K, size], padded with zeros."""
        padding = self._chunks * self._size - offsets.shape[1]
        return functional.pad(offsets, (0, padding)).view(len(offsets), self._chunks, self._size)
