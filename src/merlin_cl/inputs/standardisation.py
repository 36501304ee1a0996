"""Numbers brought to mean 0 and variance 1 without a look at what is yet to come."""

from dataclasses import dataclass

import torch
from torch import Tensor

LIMIT = 10.0
"""Standardised values are kept within this: a column that hardly moves in the first task may leap in a later one."""


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
        wide = x.double()
        mean = wide.mean(dim=0)
        deviation = wide.std(dim=0, correction=0)
        constant = deviation <= 1e-9 * mean.abs().clamp(min=1e-12)
        return cls(mean, torch.where(constant, 1.0, deviation))

    def applied(self, *several: Tensor) -> list[Tensor]:
        """Each of several [N, *input_shape], standardised; the same tensor given twice is computed once."""
        done: dict[int, Tensor] = {}
        for x in several:
            if id(x) not in done:
                done[id(x)] = ((x.double() - self.mean) / self.deviation).clamp(-LIMIT, LIMIT).float()
        return [done[id(x)] for x in several]
