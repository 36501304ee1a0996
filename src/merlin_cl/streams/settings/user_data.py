"""Settings of streams made from a user's own data. Free of torch and numpy."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, get_args

from merlin_cl.errors import UsageError, unknown
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.settings.base import Evaluation, StreamSettings

if TYPE_CHECKING:
    from merlin_cl.streams.user_data.examples import OwnData

Scenario = Literal["auto", "class-incremental", "domain-incremental"]
TaskOrder = Literal["sorted", "as-met", "returning"]
Missing = Literal["refuse", "mean"]


class OwnOptions(TypedDict, total=False):
    """What `Stream.from_...` takes beside what each form of data needs: see `OwnSettings`. Its features may also be a module, a
    function, a transformer, or `Features`."""

    class_order: str
    task_order: TaskOrder
    scenario: Scenario
    test_fraction: float
    split_seed: int
    evaluation: Evaluation
    features: Any


@dataclass(frozen=True)
class OwnSettings(StreamSettings):
    """What all forms of own data have in common. A subclass names the function that reads its form."""

    builder: ClassVar[str] = "merlin_cl.streams.user_data.building:build"
    reader: ClassVar[str]
    """What reads the data, as `package.module:function`; it is called with (settings, path)."""

    tasks: int = 0
    """Number of tasks to divide the classes into; 0: the data say which task an example belongs to."""
    task_classes: tuple[str, ...] = ()
    """Instead of a number of tasks the classes of each one, commas between them: cat,dog ship,truck. Others are left out."""
    class_order: str = "sorted"
    """In which order classes are divided into tasks: sorted by name, shuffled by the seed, or names with commas between."""
    task_order: TaskOrder = "sorted"
    """In which order tasks come that the data name: sorted by name, as they are first met with in the data, or as they come and
    come back in the order of the examples."""
    scenario: Scenario = "auto"
    """Whether tasks bring new classes or the same ones from new domains; by default, what the data say if they are clear."""
    test_fraction: float = 0.2
    """The part of every class to be scored on; it is split off where the data have no test part of their own."""
    split_seed: int = 0
    """Which part that is: the same for every seed of a run, so that no run learns from what another is scored on."""
    evaluation: Evaluation = "test"
    """Where accuracy is measured: on the test part, or on as large a part of the training examples, which are then not
    learned from, so that settings can be chosen without a look at test data."""

    def __post_init__(self) -> None:
        for name, kind in (("task_order", TaskOrder), ("scenario", Scenario), ("evaluation", Evaluation)):
            if getattr(self, name) not in get_args(kind):
                raise unknown(name.replace("_", " "), getattr(self, name), get_args(kind))
        if not isinstance(self.tasks, int) or self.tasks < 0:
            raise UsageError(f"tasks is {self.tasks}; it must be a whole number of at least 1.")
        if not 0 < self.test_fraction < 1:
            raise UsageError(f"test_fraction is {self.test_fraction}; it must be between 0 and 1.")

    def read(self, data: str | Path | None) -> OwnData:
        """The data, read as far as is needed to know what stream they will make."""
        if data is None:
            raise UsageError(f"Say where the data are: the path of a {self.stream}.")
        module, _, name = self.reader.partition(":")
        own_data: OwnData = getattr(importlib.import_module(module), name)(self, Path(data).expanduser())
        return own_data

    def info(self, data: str | Path | None = None) -> StreamInfo:
        """What the data say."""
        from merlin_cl.streams.user_data.division import divide

        own_data = self.read(data)
        return divide(own_data, self, seed=0).info(self.title(data), own_data.input_shape)

    def outline(self) -> StreamInfo:
        """New classes with every task; shape and numbers are anybody's guess."""
        return StreamInfo(self.stream, (1,), classes=2, tasks=max(1, self.tasks))

    def title(self, data: str | Path | None = None) -> str:
        """The name of the file or folder, in letters that suit the name of a run."""
        if data is None:
            return self.stream + self._suffix
        path = Path(data).expanduser().resolve()
        return (re.sub(r"[^\w.-]+", "-", path.name if path.is_dir() else path.stem) or self.stream) + self._suffix


@dataclass(frozen=True)
class FolderSettings(OwnSettings):
    """Images in a folder for each class: class/image or task/class/image, perhaps below train/ and test/."""

    stream: ClassVar[str] = "folder"
    reader: ClassVar[str] = "merlin_cl.streams.user_data.folder:read"

    image_size: int = 0
    """Height and width that images are brought to; 0: their own, which all must share."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.image_size, int) or self.image_size < 0:
            raise UsageError(f"image_size is {self.image_size}; it must be a whole number of pixels.")


@dataclass(frozen=True)
class TableSettings(OwnSettings):
    """Rows of numbers with a label: CSV or Parquet."""

    stream: ClassVar[str] = "table"
    reader: ClassVar[str] = "merlin_cl.streams.user_data.table:read"

    label: str = "label"
    """The column that holds the class."""
    task_column: str = ""
    """The column that holds the task, if one does."""
    part_column: str = ""
    """The column that says `train` or `test`, if one does."""
    columns: tuple[str, ...] = ()
    """The columns to learn from; by default all others."""
    drop: tuple[str, ...] = ()
    """Columns to leave out."""
    text: str = ""
    """A column of texts to learn from; it needs features, and no other column is learned from."""
    standardise: bool = True
    """Bring every column to mean 0 and variance 1; both are measured on the training rows of the first task."""
    categories: tuple[str, ...] = ()
    """Columns of categories; a text becomes a 1 in the place of its category."""
    missing: Missing = "refuse"
    """Where a number is missing; the mean is that of the first task's training rows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing not in get_args(Missing):
            raise unknown("way with missing values", self.missing, get_args(Missing))

    def record(self) -> dict[str, Any]:
        """All settings as plain values, without those that earlier versions do not know and that change nothing."""
        new = {"text": "", "categories": [], "missing": "refuse"}
        return {name: value for name, value in super().record().items() if name not in new or value != new[name]}


@dataclass(frozen=True)
class ArraysSettings(OwnSettings):
    """NumPy arrays x, y and perhaps task, x_test, y_test, task_test in an .npz file."""

    stream: ClassVar[str] = "arrays"
    reader: ClassVar[str] = "merlin_cl.streams.user_data.arrays:read"

    standardise: bool = False
    """Bring every number of an input to mean 0 and variance 1, as measured on the training examples of the first task."""


@dataclass(frozen=True)
class HuggingFaceSettings(OwnSettings):
    """A data set of the library `datasets`, saved with save_to_disk."""

    stream: ClassVar[str] = "huggingface"
    reader: ClassVar[str] = "merlin_cl.streams.user_data.huggingface:read"

    label: str = "label"
    """The column that holds the class."""
    task_column: str = ""
    """The column that holds the task, if one does."""
    columns: tuple[str, ...] = ()
    """The columns to learn from: one of images, or any of numbers. By default the one of images, or else all others."""
    image_size: int = 0
    """Height and width that images are brought to; 0: their own, which all must share."""
    standardise: bool = True
    """Bring every column of numbers to mean 0 and variance 1, as measured on the training rows of the first task."""
