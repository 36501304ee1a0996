"""Numbers brought to mean 0 and variance 1 without a look at what is yet to come."""

from dataclasses import dataclass

import torch
from torch import Tensor

LIMIT = 10.0
"""Standardised values are kept within this: a column that hardly moves in the first task may leap in a later one."""

UNLIKE, LARGE = 10.0, 30.0
"""Columns are of unlike scales if the largest is so many times the median one, or the median one has numbers of this size."""
ENOUGH = 20
"""Inputs after which a scale that is found as they arrive is settled: it is then known to about a sixth."""


@dataclass(frozen=True)
class Standardisation:
    """Mean and standard deviation of every number of an input, [*input_shape].

    They are those of the first task's training examples: neither a test example nor a later task has a part in them, and they
    never change, so that what was learned keeps its meaning.
    """

    mean: Tensor
    deviation: Tensor

    @classmethod
    def fitted_to(cls, x: Tensor) -> "Standardisation":
        """From x [n, *input_shape]. A number that is the same in all of x is centred only."""
        return Moments.of(x).standardisation()

    @classmethod
    def scale_of(cls, x: Tensor) -> "Standardisation":
        """One scale for all numbers of x [n, *input_shape], which makes their mean square 1; nothing is moved.

        Features of a network belong together: what is rare in the first task stays rare, and angles stay what they are.
        """
        scale = x.double().square().mean().sqrt().clamp(min=1e-12)
        return cls(torch.zeros(x.shape[1:], dtype=torch.float64), scale.expand(x.shape[1:]).contiguous())

    def applied(self, *several: Tensor) -> list[Tensor]:
        """Each of several [N, *input_shape], standardised; the same tensor given twice is computed once."""
        done: dict[int, Tensor] = {}
        for x in several:
            if id(x) not in done:
                done[id(x)] = ((x.double() - self.mean) / self.deviation).clamp(-LIMIT, LIMIT).float()
        return [done[id(x)] for x in several]


@dataclass(frozen=True)
class Moments:
    """How many inputs have passed, their mean and the sum of their squared distances from it, [*input_shape] each."""

    count: int
    mean: Tensor
    squares: Tensor

    @classmethod
    def of(cls, x: Tensor) -> "Moments":
        """Those of x [n, *input_shape]."""
        wide = x.double()
        mean = wide.mean(dim=0)
        return cls(len(x), mean, (wide - mean).square().sum(dim=0))

    def with_more(self, x: Tensor) -> "Moments":
        """The same with more inputs, as if all had come at once (Chan et al. 1979)."""
        more, count = Moments.of(x), self.count + len(x)
        apart = more.mean - self.mean
        squares = self.squares + more.squares + apart.square() * (self.count * more.count / count)
        return Moments(count, self.mean + apart * (more.count / count), squares)

    @property
    def settled(self) -> bool:
        """Whether so many have passed that a scale may rest on them."""
        return self.count >= ENOUGH

    @property
    def unlike(self) -> bool:
        """Whether a network could not learn from these numbers as they are: one in grams and another in tons, or all large."""
        sizes = (self.squares / self.count + self.mean.square()).sqrt()
        sizes = sizes[sizes > 0]
        return len(sizes) > 0 and bool(sizes.max() > UNLIKE * sizes.median() or sizes.median() > LARGE)

    @property
    def ratio(self) -> float:
        """How many times as large the numbers of the column with the largest are as those of the one with the smallest."""
        sizes = (self.squares / self.count + self.mean.square()).sqrt()
        sizes = sizes[sizes > 0]
        return float(sizes.max() / sizes.min()) if len(sizes) else 1.0

    def standardisation(self, least: float = 0.0) -> Standardisation:
        """By these moments; a number that has not moved yet is centred only.

        No deviation is taken to be less than the share `least` of the mean: where the first task has a single class, numbers
        hardly move in it, and other classes would be far off.
        """
        deviation = (self.squares / self.count).sqrt()
        constant = deviation <= 1e-9 * self.mean.abs().clamp(min=1e-12)
        scale = (deviation.square() + (least * self.mean).square()).sqrt()
        return Standardisation(self.mean, torch.where(constant, (least * self.mean.abs()).clamp(min=1.0), scale))
