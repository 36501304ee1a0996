"""Settings of the stream in which every task is a data set of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from merlin_cl.errors import UsageError, unknown
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.settings.base import DrawnSettings

CLASSES = {
    "cifar10": 10,
    "cifar100": 100,
    "facescrub": 100,
    "fashion-mnist": 10,
    "notmnist": 10,
    "mnist": 10,
    "svhn": 10,
    "gtsrb": 43,
}
"""The data sets of HAT (Serra et al. 2018) in the order of its table, and how many classes each has."""


@dataclass(frozen=True)
class HeterogeneousSettings(DrawnSettings):
    """A data set a task, each with classes of its own: objects, faces, clothing, letters, digits, traffic signs."""

    stream: ClassVar[str] = "heterogeneous"
    builder: ClassVar[str] = "merlin_cl.streams.benchmarks.heterogeneous:build"
    data_sets: ClassVar[tuple[str, ...]] = tuple(CLASSES)

    datasets: tuple[str, ...] = tuple(CLASSES)
    """The data sets to learn, in order: name those that you have."""
    image_size: int = 32
    """Height and width that images are brought to; grey ones are repeated in all three channels."""

    def __post_init__(self) -> None:
        self._require_at_least_one("image_size")
        super().__post_init__()
        if not self.datasets:
            raise UsageError(f"datasets is empty; name at least one of {', '.join(CLASSES)}.")
        for place, name in enumerate(self.datasets):
            if name not in CLASSES:
                raise unknown("data set", name, CLASSES)
            if name in self.datasets[:place]:
                raise UsageError(f"datasets names {name!r} twice; each data set is one task.")

    def info(self, data: str | Path | None = None) -> StreamInfo:
        """Square colour images, one head for the classes of all data sets."""
        return StreamInfo(
            name=self.stream,
            input_shape=(3, self.image_size, self.image_size),
            classes=sum(CLASSES[name] for name in self.datasets),
            tasks=len(self.datasets),
        )
