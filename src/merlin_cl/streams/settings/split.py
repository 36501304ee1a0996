"""Settings of the streams that bring new classes with every task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from merlin_cl.errors import UsageError, unknown
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.class_lists import official_classes
from merlin_cl.streams.settings.base import CountedSettings, DrawnSettings

ORDERS = ("paper", "official", "shuffled")


@dataclass(frozen=True)
class SplitSettings(DrawnSettings, CountedSettings):
    """What the split streams have in common. The defaults are the paper's protocol.

    The head has one output for every class of the data set, however many tasks are learned; a class has the output of its
    place in the order.
    """

    builder: ClassVar[str] = "merlin_cl.streams.benchmarks.split:build"
    channels: ClassVar[int] = 3
    classes_per_task: ClassVar[int]
    mirrored: ClassVar[bool] = False

    image_size: int = 32
    """Height and width that images are brought to."""
    class_order: str = "paper"
    """In which order classes arrive: as in the paper, official (by label), shuffled by the seed, or class names with commas
    between them (cat,dog,ship,truck)."""

    def __post_init__(self) -> None:
        self._require_at_least_one("tasks", "image_size")
        super().__post_init__()
        most = len(self.all_classes) // self.classes_per_task
        if self.tasks > most:
            raise UsageError(f"tasks is {self.tasks}; {self.stream} has at most {most} tasks.")
        if self.class_order not in ORDERS:
            self._check_names(self.listed_classes)

    @property
    def data_set(self) -> str:
        """The data set it reads, by its name in the catalogue."""
        return self.data_sets[0]

    @property
    def all_classes(self) -> tuple[str, ...]:
        """The names of all classes of the data set, by label."""
        return official_classes(self.data_set)

    @property
    def listed_classes(self) -> tuple[str, ...]:
        """The names the user gave as the order."""
        return tuple(name.strip() for name in self.class_order.split(","))

    def info(self, data: str | Path | None = None) -> StreamInfo:
        """Square images, one head for all classes."""
        return StreamInfo(
            name=self.stream,
            input_shape=(self.channels, self.image_size, self.image_size),
            classes=len(self.all_classes),
            tasks=self.tasks,
            mirrored=self.mirrored,
        )

    def _check_names(self, names: tuple[str, ...]) -> None:
        if len(names) == 1:
            raise unknown("class order", names[0], ORDERS)
        for place, name in enumerate(names):
            if name not in self.all_classes:
                raise unknown(f"class of {self.stream}", name, self.all_classes)
            if name in names[:place]:
                first, second = (at // self.classes_per_task for at in (names.index(name), place))
                raise UsageError(
                    f"class_order gives {name!r} to task {first} and again to task {second}; a class belongs to one task."
                )
        wanted = self.tasks * self.classes_per_task
        if len(names) < wanted:
            raise UsageError(
                f"class_order names {len(names)} classes, but {self.tasks} tasks of {self.classes_per_task} need {wanted}; "
                "name more of them or lower tasks."
            )


@dataclass(frozen=True)
class SplitMnistSettings(SplitSettings):
    """Two new digits a task: 0 and 1, then 2 and 3, and so on."""

    stream: ClassVar[str] = "split-mnist"
    data_sets: ClassVar[tuple[str, ...]] = ("mnist",)
    other_kinds: ClassVar[tuple[str, ...]] = ("notmnist", "fashion-mnist")
    channels: ClassVar[int] = 1
    classes_per_task: ClassVar[int] = 2

    tasks: int = 5
    """Number of tasks, two digits each: 1 to 5."""
    images_per_task: int = 1000
    """Training images a task, drawn afresh for each seed and task; 0: all there are."""
    image_size: int = 28
    """Height and width that images are brought to."""


@dataclass(frozen=True)
class SplitFashionMnistSettings(SplitSettings):
    """Two new kinds of clothing a task."""

    stream: ClassVar[str] = "split-fashion-mnist"
    data_sets: ClassVar[tuple[str, ...]] = ("fashion-mnist",)
    other_kinds: ClassVar[tuple[str, ...]] = ("notmnist", "mnist")
    channels: ClassVar[int] = 1
    classes_per_task: ClassVar[int] = 2

    tasks: int = 5
    """Number of tasks, two classes each: 1 to 5."""
    image_size: int = 28
    """Height and width that images are brought to."""


@dataclass(frozen=True)
class SplitCifar10Settings(SplitSettings):
    """Two new classes a task: airplane and automobile first."""

    stream: ClassVar[str] = "split-cifar10"
    data_sets: ClassVar[tuple[str, ...]] = ("cifar10",)
    other_kinds: ClassVar[tuple[str, ...]] = ("svhn",)
    classes_per_task: ClassVar[int] = 2
    mirrored: ClassVar[bool] = True

    tasks: int = 5
    """Number of tasks, two classes each: 1 to 5."""


@dataclass(frozen=True)
class SplitCifar100Settings(SplitSettings):
    """Ten new classes a task: two superclasses of five."""

    stream: ClassVar[str] = "split-cifar100"
    data_sets: ClassVar[tuple[str, ...]] = ("cifar100",)
    other_kinds: ClassVar[tuple[str, ...]] = ("svhn",)
    classes_per_task: ClassVar[int] = 10
    mirrored: ClassVar[bool] = True

    tasks: int = 10
    """Number of tasks, ten classes each: 1 to 10."""


@dataclass(frozen=True)
class SplitCifar100By5Settings(SplitSettings):
    """Five new classes a task: one superclass."""

    stream: ClassVar[str] = "split-cifar100-20"
    data_sets: ClassVar[tuple[str, ...]] = ("cifar100",)
    other_kinds: ClassVar[tuple[str, ...]] = ("svhn",)
    classes_per_task: ClassVar[int] = 5
    mirrored: ClassVar[bool] = True

    tasks: int = 20
    """Number of tasks, five classes each: 1 to 20."""


@dataclass(frozen=True)
class SplitMiniImageNetSettings(SplitSettings):
    """Ten new classes a task, 84 by 84 pixels."""

    stream: ClassVar[str] = "split-miniimagenet"
    data_sets: ClassVar[tuple[str, ...]] = ("mini-imagenet",)
    classes_per_task: ClassVar[int] = 10
    mirrored: ClassVar[bool] = True

    tasks: int = 10
    """Number of tasks, ten classes each: 1 to 10."""
    image_size: int = 84
    """Height and width that images are brought to."""


@dataclass(frozen=True)
class SplitMiniImageNetBy5Settings(SplitMiniImageNetSettings):
    """Five new classes a task, 84 by 84 pixels."""

    stream: ClassVar[str] = "split-miniimagenet-20"
    classes_per_task: ClassVar[int] = 5

    tasks: int = 20
    """Number of tasks, five classes each: 1 to 20."""


@dataclass(frozen=True)
class AudioMnistSettings(SplitSettings):
    """Two new spoken digits a task, as log-mel spectrograms."""

    stream: ClassVar[str] = "audio-mnist"
    data_sets: ClassVar[tuple[str, ...]] = ("audiomnist",)
    channels: ClassVar[int] = 1
    classes_per_task: ClassVar[int] = 2

    tasks: int = 5
    """Number of tasks, two digits each: 1 to 5."""
    images_per_task: int = 1000
    """Training recordings a task, drawn afresh for each seed and task."""
    image_size: int = 32
    """Mel bands and frames of a spectrogram."""
