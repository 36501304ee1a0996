"""Data sets of the library `datasets`, from memory or from the folder that one was saved to."""

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError, MerlinError, UsageError, unknown
from merlin_cl.inputs.labels import names_of
from merlin_cl.inputs.pictures import Header, common_shape, decoded, header_of
from merlin_cl.inputs.tables import Table
from merlin_cl.streams.settings.user_data import HuggingFaceSettings, TableSettings
from merlin_cl.streams.user_data.arrays import from_parts
from merlin_cl.streams.user_data.examples import Examples, OwnData
from merlin_cl.streams.user_data.table import from_tables

TEST_PARTS = ("test", "validation", "valid", "val")
TASKS_FROM = "a column that holds the task (task, or --task-column NAME)"


def read(settings: HuggingFaceSettings, path: Path) -> OwnData:
    """The data set in a folder."""
    library = _library()
    try:
        dataset = library.load_from_disk(str(path))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} cannot be read as a saved data set ({error}); save it again.") from error
    return from_dataset(settings, dataset, str(path))


def from_dataset(settings: HuggingFaceSettings, dataset: Any, place: str) -> OwnData:
    """Own data from a `Dataset`, or from the parts of a `DatasetDict`."""
    library = _library()
    if isinstance(dataset, library.DatasetDict):
        if "train" not in dataset:
            raise InputError(
                f"{place} has the parts {', '.join(dataset)} but none called 'train'; give one of them alone."
            )
        train, test = dataset["train"], next((dataset[part] for part in TEST_PARTS if part in dataset), None)
    elif isinstance(dataset, library.Dataset):
        train, test = dataset, None
    else:
        raise UsageError(
            f"A {type(dataset).__name__} is no data set in memory; give a Dataset or DatasetDict, or use Stream.from_iterable."
        )
    for name in (settings.label, settings.task_column, *settings.columns):
        if name and name not in train.column_names:
            raise unknown(f"column of {place}", name, train.column_names)
    columns = _columns(settings, train, library)
    parts = [train] if test is None else [train, test]
    if isinstance(train.features[columns[0]], library.Image):
        if len(columns) > 1:
            raise UsageError(f"{place}: learn from one column of images, not from {', '.join(columns)}.")
        return _of_images(
            settings, [part.cast_column(columns[0], library.Image(decode=False)) for part in parts], columns[0], place
        )
    if len(columns) == 1 and len(train) and isinstance(train[0][columns[0]], list):
        arrays = [
            (_stacked(part, columns[0], place), _names(part, settings.label, place), _tasks(part, settings, place))
            for part in parts
        ]
        return from_parts(place, arrays[0], arrays[1] if len(arrays) > 1 else None, settings.standardise)
    chosen = TableSettings(
        label=settings.label, task_column=settings.task_column, columns=columns, standardise=settings.standardise
    )
    return from_tables(chosen, *(_table(part, settings, columns, place) for part in parts))


def _columns(settings: HuggingFaceSettings, part: Any, library: Any) -> tuple[str, ...]:
    """The columns to learn from."""
    others = [name for name in part.column_names if name not in (settings.label, settings.task_column)]
    images = [name for name in others if isinstance(part.features[name], library.Image)]
    columns = settings.columns or tuple(images[:1] or others)
    if not columns:
        raise UsageError(f"There is no column left to learn from beside {settings.label}.")
    return columns


def _of_images(settings: HuggingFaceSettings, parts: Sequence[Any], column: str, place: str) -> OwnData:
    named = [lambda at, which=which: f"image {at} of {which} in {place}" for which in ("train", "test")]
    headers: dict[str, Header] = {}
    for part, name in zip(parts, named, strict=False):
        headers |= {name(at): header_of(_file(value, name(at)), name(at)) for at, value in enumerate(part[column])}
    shape = common_shape(headers, settings.image_size)

    def examples(part: Any, name: Any) -> Examples:
        def inputs() -> Tensor:
            channels, height, width = shape
            x = torch.empty(len(part), *shape, dtype=torch.uint8)
            for at, value in enumerate(part[column]):
                pixels = decoded(_file(value, name(at)), channels, (width, height), name(at))
                x[at] = torch.from_numpy(pixels.transpose(2, 0, 1).copy())
            return x

        return Examples(_names(part, settings.label, place), _tasks(part, settings, place), inputs, name)

    loaded = [examples(part, name) for part, name in zip(parts, named, strict=False)]
    return OwnData(place, shape, loaded[0], loaded[1] if len(loaded) > 1 else None, tasks_from=TASKS_FROM)


def _file(value: dict[str, Any] | None, name: str) -> BinaryIO | Path:
    if value is None:
        raise InputError(f"{name.capitalize()} is missing; leave the row out.")
    return Path(value["path"]) if value["bytes"] is None else io.BytesIO(value["bytes"])


def _names(part: Any, column: str, place: str) -> list[str]:
    """Labels or tasks as text; numbers that stand for names become these."""
    values, names = list(part[column]), getattr(part.features[column], "names", None)
    if names is not None:
        values = [None if value is None or value < 0 else names[value] for value in values]
    return names_of(
        values,
        lambda row: f"Column {column!r} of {place} has no value in row {row + 1}; fill it in or leave the row out.",
    )


def _tasks(part: Any, settings: HuggingFaceSettings, place: str) -> list[str] | None:
    return _names(part, settings.task_column, place) if settings.task_column else None


def _table(part: Any, settings: HuggingFaceSettings, columns: Sequence[str], place: str) -> Table:
    special = [name for name in (settings.label, settings.task_column) if name]
    columns_by_name: dict[str, Sequence[Any]] = {name: list(part[name]) for name in columns}
    return Table(place, columns_by_name | {name: _names(part, name, place) for name in special})


def _stacked(part: Any, column: str, place: str) -> np.ndarray[Any, Any]:
    try:
        stacked: np.ndarray[Any, Any] = np.asarray(list(part[column]))
    except ValueError:
        raise InputError(f"The lists in column {column!r} of {place} differ in length; bring them to one.") from None
    return stacked


def _library() -> Any:
    try:
        return importlib.import_module("datasets")
    except ImportError:
        raise MerlinError(
            "This needs the library `datasets`, which is not installed; `pip install merlin-cl[huggingface]` brings it."
        ) from None
