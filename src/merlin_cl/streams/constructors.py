"""What `Stream.from_arrays` and its like do: settings and data put together into a stream."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from merlin_cl.errors import InputError, UsageError
from merlin_cl.features import Features
from merlin_cl.features.raw import texts_in
from merlin_cl.inputs.arrays import as_array
from merlin_cl.inputs.labels import name_of
from merlin_cl.inputs.tables import Table, from_frame, read_table
from merlin_cl.streams.settings.user_data import (
    ArraysSettings,
    FolderSettings,
    HuggingFaceSettings,
    Missing,
    OwnOptions,
    OwnSettings,
    TableSettings,
)
from merlin_cl.streams.stream import Stream
from merlin_cl.streams.user_data.arrays import LabelledArrays, from_parts, gathered
from merlin_cl.streams.user_data.building import own_stream
from merlin_cl.streams.user_data.division import Groups
from merlin_cl.streams.user_data.table import from_tables


class _Wanted(TypedDict):
    tasks: int


def from_arrays(
    x: Any,
    y: Any,
    tasks: Any,
    test: Sequence[Any] | None,
    standardise: bool,
    seed: int,
    name: str,
    options: OwnOptions,
) -> Stream:
    """See `Stream.from_arrays`."""
    each = tasks if _is_for_each_example(tasks) else None
    wanted, groups = _wanted(None if each is not None else tasks)
    if test is not None and len(test) not in (2, 3):
        raise UsageError(f"test has {len(test)} parts; give (x, y) or (x, y, tasks).")
    parts = None if test is None else (_array(test[0]), test[1], test[2] if len(test) == 3 else None)
    data, features = from_parts(name, (_array(x), y, each), parts, standardise), _features(options)
    return own_stream(data, ArraysSettings(**wanted, **options, standardise=standardise), seed, name, groups, features)


def from_iterable(
    examples: Iterable[Any],
    tasks: Any,
    test: Iterable[Any] | None,
    standardise: bool,
    seed: int,
    name: str,
    options: OwnOptions,
) -> Stream:
    """See `Stream.from_iterable`."""
    wanted, groups = _wanted(tasks)
    parts: LabelledArrays | None = None if test is None else gathered(test, "test example")
    data = from_parts(name, gathered(examples), parts, standardise)
    features = _features(options)
    ordered: OwnOptions = {"task_order": "as-met", **options}
    return own_stream(data, ArraysSettings(**wanted, **ordered, standardise=standardise), seed, name, groups, features)


def from_folder(path: str | Path, tasks: Any, image_size: int, seed: int, name: str, options: OwnOptions) -> Stream:
    """See `Stream.from_folder`."""
    (wanted, groups), features = _wanted(tasks), _features(options)
    return _from_path(FolderSettings(**wanted, **options, image_size=image_size), path, seed, name, groups, features)


def from_table(
    table: Any,
    test: Any,
    chosen: tuple[str, str, str, tuple[str, ...], tuple[str, ...], str],
    tasks: Any,
    kinds: tuple[bool, tuple[str, ...], Missing],
    seed: int,
    name: str,
    options: OwnOptions,
) -> Stream:
    """See `Stream.from_table`."""
    (wanted, groups), features = _wanted(tasks), _features(options)
    label, task, part, columns, drop, text = chosen
    settings = TableSettings(
        **wanted,
        **options,
        label=label,
        task_column=task,
        part_column=part,
        columns=columns,
        drop=drop,
        text=text,
        standardise=kinds[0],
        categories=kinds[1],
        missing=kinds[2],
    )
    data = from_tables(settings, _table(table), None if test is None else _table(test))
    title = settings.title(table) if isinstance(table, str | Path) else "table"
    return own_stream(data, settings, seed, name or title, groups, features)


def from_huggingface(
    dataset: Any,
    chosen: tuple[str, str, tuple[str, ...], int, bool],
    tasks: Any,
    seed: int,
    name: str,
    options: OwnOptions,
) -> Stream:
    """See `Stream.from_huggingface`."""
    (wanted, groups), features = _wanted(tasks), _features(options)
    label, task, columns, size, standardise = chosen
    settings = HuggingFaceSettings(
        **wanted,
        **options,
        label=label,
        task_column=task,
        columns=columns,
        image_size=size,
        standardise=standardise,
    )
    if isinstance(dataset, str | Path):
        return _from_path(settings, dataset, seed, name, groups, features)
    from merlin_cl.streams.user_data.huggingface import from_dataset

    data = from_dataset(settings, dataset, "the data set")
    return own_stream(data, settings, seed, name or "huggingface", groups, features)


def _from_path(
    settings: OwnSettings, path: str | Path, seed: int, name: str, groups: Groups | None, features: Features | None
) -> Stream:
    return own_stream(settings.read(path), settings, seed, name or settings.title(path), groups, features)


def _features(options: OwnOptions) -> Features | None:
    """What the options say of features, taken out of them: settings know theirs by name alone."""
    source = options.pop("features", None)
    return None if source is None or source == "" else Features.of(source)


def _array(x: Any) -> Any:
    """Inputs as an array, of objects where they are texts."""
    texts = texts_in(x)
    return as_array(x) if texts is None else np.array(texts, dtype=object)


def _table(table: Any) -> Table:
    return read_table(Path(table).expanduser()) if isinstance(table, str | Path) else from_frame(table)


def _is_for_each_example(tasks: Any) -> bool:
    """Whether `tasks` has a value for each example, rather than being a number or lists of classes."""
    if tasks is None or isinstance(tasks, int):
        return False
    if hasattr(tasks, "ndim"):
        return bool(tasks.ndim == 1)
    return not any(_is_group(one) for one in tasks)


def _wanted(tasks: Any) -> tuple[_Wanted, Groups | None]:
    """The number of tasks, or the classes of each."""
    if tasks is None:
        return {"tasks": 0}, None
    if isinstance(tasks, int | np.integer):
        if tasks < 1:
            raise UsageError(f"tasks is {tasks}; it must be a whole number of at least 1.")
        return {"tasks": int(tasks)}, None
    groups = [list(group) for group in tasks if _is_group(group)]
    if not groups or len(groups) != len(tasks):
        raise UsageError(
            "tasks must be a number, or a list of classes for each task: [['cat', 'dog'], ['ship', 'truck']]."
        )
    names = [[name_of(label) for label in group] for group in groups]
    if any(name is None for group in names for name in group):
        raise InputError("tasks names a class that is None or NaN; give every class a name.")
    return {"tasks": 0}, [[str(name) for name in group] for group in names]


def _is_group(one: Any) -> bool:
    return isinstance(one, list | tuple | set | frozenset | range) or getattr(one, "ndim", 0) > 0
