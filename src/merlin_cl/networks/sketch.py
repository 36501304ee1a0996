"""Weights as a function of few numbers: a random sketch that a seed regenerates, so that it costs no bytes to keep.

    psi = psi_0 + S z        (S z)_i = s_i z_[h(i)]

h(i) says which number of z weight i takes and s_i is a random sign. Every weight tensor has numbers of its own, in proportion
to the square root of its size; vectors (biases, gains) keep one number a weight. Each output of the head has a block of its own
at the end of z, drawn from a seed of its own, so that a head that grows adds numbers and changes none.

A long z has a short form beside it, half as long: the same shuffles and signs, with two numbers of z tied to one. Whatever
the short form can say the long one can say too, so all latents of a learner stand in one space.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import torch
from torch import Tensor

from merlin_cl.networks.network import Network

Generators = Callable[..., torch.Generator]
"""Makes the random generator of a purpose, given as strings and numbers."""
SHORTEST = 8000
"""Numbers that a short form has at the least: a z of fewer than twice as many has none."""


class Sketch:
    """S, the same for every member of a bank."""

    def __init__(
        self,
        network: Network,
        numbers: int,
        generators: Generators,
        first: Network,
        outputs: Sequence[int | str],
        with_short: bool = True,
    ) -> None:
        """`numbers` is about how long z is for the network `first`, which differs from `network` in its outputs at most.

        `outputs` are the names of the outputs, by which their blocks are drawn. Where z is long enough, it has a short form
        beside it, unless `with_short` is False.
        """
        self.network = network
        self.groups: list[tuple[int, int]] = []  # where z's parts begin and end: the weight tensors, then the outputs
        tied = 2 if with_short and 2 * SHORTEST <= numbers < first.size else 1  # numbers that the short form has as one
        self.short: Sketch | None = None
        if tied > 1:
            self.short = Sketch(network, numbers // tied, generators, first, outputs, with_short=False)
        shares = _shares(first, numbers // tied)
        head, bias = network.head
        number, negative = torch.zeros(network.size, dtype=torch.int64), torch.zeros(network.size, dtype=torch.bool)
        places = network.views(torch.arange(network.size).unsqueeze(0))
        for name, view in places.items():
            if name not in (*network.statistics, head, bias):
                generator = generators("sketch", name)
                self._hash(view.flatten(), shares[name], tied, generator, number, negative)
        each = max(1, shares[head] // first.classes)
        for output, weights, own in zip(outputs, places[head][0].T, places[bias][0], strict=True):
            generator = generators("sketch", "output", output)
            start = self.size
            self._hash(weights, min(each, len(weights)), tied, generator, number, negative)
            number[own] = self.size
            self.groups[-1] = (start, self.size + 1)
        # Reading from [z, -z] takes the sign along: one look-up instead of a look-up and a product.
        self._from = (number + negative * self.size)[: network.learned]

    @property
    def size(self) -> int:
        """Numbers in z."""
        return self.groups[-1][1] if self.groups else 0

    def _hash(
        self, weights: Tensor, numbers: int, tied: int, generator: torch.Generator, number: Tensor, negative: Tensor
    ) -> None:
        """Give weights, positions in psi, the next numbers of z: as many weights to each number as to any other.

        They are `numbers` in the short form, `tied` times as many here; never more than there are weights.
        """
        start, here = self.size, min(tied * numbers, len(weights))
        self.groups.append((start, start + here))
        if numbers == len(weights):
            number[weights] = torch.arange(start, start + numbers)
            return
        shuffled = weights[torch.randperm(len(weights), generator=generator)]
        number[shuffled] = start + torch.arange(len(weights)) % here  # modulo `numbers` once more: the short form's
        negative[weights] = torch.randint(2, (len(weights),), generator=generator).bool()

    @cached_property
    def part(self) -> Tensor:
        """Which part each number of z belongs to, int64 [size]."""
        return torch.cat([torch.full((stop - start,), at) for at, (start, stop) in enumerate(self.groups)]).to(
            self._from
        )

    @cached_property
    def fold(self) -> Tensor:
        """Which number of the short form's z stands for each number of this one's, int64 [size]."""
        assert self.short is not None
        fold = torch.empty(self.size, dtype=torch.int64, device=self._from.device)
        fold[self._from % self.size] = self.short._from % self.short.size
        return fold

    def lengthened(self, z: Tensor) -> Tensor:
        """A short z, [M, short size], as the long one, [M, size], that means the same weights."""
        return z.index_select(1, self.fold)

    def shortened(self, z: Tensor) -> Tensor:
        """The short z, [M, short size], nearest to a long one, [M, size]: the mean of the numbers that are tied."""
        assert self.short is not None
        sums = z.new_zeros(len(z), self.short.size).index_add_(1, self.fold, z)
        return sums / self.fold.bincount(minlength=self.short.size)

    def to(self, device: torch.device) -> "Sketch":
        """The same on a device."""
        self._from = self._from.to(device)
        if self.short is not None:
            self.short.to(device)
        return self

    def offsets(self, z: Tensor) -> Tensor:
        """S z, [M, learned], for z [M, size]."""
        return torch.cat([z, -z], dim=1).index_select(1, self._from)

    def weights(self, z: Tensor, starts: Tensor) -> Tensor:
        """psi_0 + S z, [M, P], for starts psi_0 [M, P]; statistics are those of the starts."""
        psi = starts.clone()
        psi[:, : self.network.learned] += self.offsets(z)
        return psi

    def gradient(self, gradient: Tensor) -> Tensor:
        """The gradient by z, [M, size], from that by psi, [M, P]: S' times it."""
        both = gradient.new_zeros(len(gradient), 2 * self.size)
        both.index_add_(1, self._from, gradient[:, : len(self._from)])
        return both[:, : self.size] - both[:, self.size :]

    def places(self, narrow: "Sketch", outputs: Sequence[int]) -> Tensor:
        """Where in z the numbers of a narrower sketch's z are; `outputs` says where its outputs are among this one's."""
        body = len(narrow.groups) - narrow.network.classes
        places = [torch.arange(start, stop) for start, stop in self.groups[:body]]
        places += [torch.arange(*self.groups[body + output]) for output in outputs]
        return torch.cat(places)


def _shares(network: Network, numbers: int) -> dict[str, int]:
    """How many numbers each learned weight tensor has: vectors all they are long, matrices by the root of their size."""
    sizes = {name: math.prod(shape) for name, shape in network.shapes.items() if name not in network.statistics}
    shares = {name: size for name, size in sizes.items() if len(network.shapes[name]) == 1}
    matrices = {name: size for name, size in sizes.items() if name not in shares}
    left = max(len(matrices), numbers - sum(shares.values()))
    while matrices:
        total = sum(math.sqrt(size) for size in matrices.values())
        wanted = {name: max(1, int(left * math.sqrt(size) / total)) for name, size in matrices.items()}
        whole = {name: size for name, size in matrices.items() if wanted[name] >= size}
        if not whole:
            return shares | wanted
        shares |= whole  # no tensor needs more numbers than it has weights; what it leaves goes to the others
        left = max(len(matrices), left - sum(whole.values()))
        matrices = {name: size for name, size in matrices.items() if name not in whole}
    return shares


def grown(latents: Tensor, places: Tensor, size: int) -> Tensor:
    """Latents [..., size] of a wider sketch from those of a narrower one: new numbers are zero."""
    wider = latents.new_zeros(*latents.shape[:-1], size)
    wider[..., places.to(latents.device)] = latents
    return wider
