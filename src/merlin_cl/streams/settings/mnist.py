"""Settings of the streams that show all ten digits in every task, each time in another way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.settings.base import CountedSettings, DrawnSettings


@dataclass(frozen=True)
class MnistDomainSettings(DrawnSettings, CountedSettings):
    """What permuted and rotated MNIST have in common. The defaults are the paper's protocol."""

    data_sets: ClassVar[tuple[str, ...]] = ("mnist",)
    other_kinds: ClassVar[tuple[str, ...]] = ("notmnist", "fashion-mnist")

    images_per_task: int = 1000
    """Training images a task, drawn afresh for each seed and task; 0: all there are."""

    def __post_init__(self) -> None:
        self._require_at_least_one("tasks")
        super().__post_init__()

    def info(self, data: str | Path | None = None) -> StreamInfo:
        """One channel of 28 by 28 pixels, one head for ten digits."""
        return StreamInfo(self.stream, (1, 28, 28), classes=10, tasks=self.tasks, domain_incremental=True)


@dataclass(frozen=True)
class PermutedMnistSettings(MnistDomainSettings):
    """All ten digits in every task, their pixels in an order of the task's own."""

    stream: ClassVar[str] = "permuted-mnist"
    builder: ClassVar[str] = "merlin_cl.streams.benchmarks.mnist_domains:permuted"

    tasks: int = 10
    """Number of tasks, each with a permutation of its own (the first one too)."""


@dataclass(frozen=True)
class RotatedMnistSettings(MnistDomainSettings):
    """All ten digits in every task, turned further from task to task."""

    stream: ClassVar[str] = "rotated-mnist"
    builder: ClassVar[str] = "merlin_cl.streams.benchmarks.mnist_domains:rotated"

    tasks: int = 10
    """Number of tasks; the first one is upright."""
    degrees_per_task: float = 18.0
    """How much further each task is turned, counterclockwise; ten tasks of 18 degrees stay within half a turn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.degrees_per_task):
            raise UsageError(f"degrees_per_task is {self.degrees_per_task}; give a finite number of degrees.")
