"""Numbers that are missing, filled in with the mean of those that were there."""

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class ColumnMeans:
    """Of all examples learned so far that had the number, each counting alike; what changes it makes another one."""

    count: Tensor
    """int64 [*input_shape]"""
    mean: Tensor
    """float64 [*input_shape]"""

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Self:
        """Of no example."""
        return cls(torch.zeros(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.float64))

    def after(self, x: Tensor) -> Self:
        """With examples x [N, *input_shape], NaN where a number is missing."""
        more = (~x.isnan()).sum(dim=0)
        count = self.count + more
        step = x.double().nanmean(dim=0).nan_to_num(nan=0.0) - self.mean
        return type(self)(count, self.mean + torch.where(more > 0, step, 0.0) * more / count.clamp(min=1))

    def filled(self, x: Tensor) -> Tensor:
        """x [N, *input_shape] with the mean in the place of NaN; 0 where no example has had a number yet."""
        return torch.where(x.isnan(), self.mean.to(x.dtype), x)

    def state(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"count": self.count, "mean": self.mean}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: tuple[int, ...]) -> Self:
        """What `state` gave; ValueError where it cannot have given that."""
        count, mean = state["count"], state["mean"]
        if set(state) != {"count", "mean"} or (count.shape, mean.shape) != (shape, shape):
            raise ValueError("the means that fill in missing numbers are not those of its inputs")
        if (count.dtype, mean.dtype) != (torch.int64, torch.float64) or bool((count < 0).any()):
            raise ValueError("the means that fill in missing numbers are none")
        return cls(count, mean)
