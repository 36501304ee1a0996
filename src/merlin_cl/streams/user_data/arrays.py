"""Arrays, NumPy's, torch's or those in an .npz file, and examples that come one after another."""

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from merlin_cl.errors import InputError
from merlin_cl.inputs.arrays import Array, as_array, as_inputs, input_shape
from merlin_cl.inputs.labels import names_of
from merlin_cl.streams.settings.user_data import ArraysSettings
from merlin_cl.streams.user_data.examples import Examples, OwnData

NAMES = {"x": ("x", "x_train"), "y": ("y", "y_train"), "task": ("task", "tasks", "task_train")}
TEST_NAMES = {"x": ("x_test",), "y": ("y_test",), "task": ("task_test", "tasks_test")}
"""What the arrays of an .npz file may be called."""


def read(settings: ArraysSettings, path: Path) -> OwnData:
    """The arrays of an .npz file."""
    train = _part(path, NAMES)
    if train is None:
        raise InputError(
            f"{path} has no arrays x and y (or x_train and y_train); save it with np.savez(path, x=x, y=y)."
        )
    return from_parts(str(path), train, _part(path, TEST_NAMES), settings.standardise)


LabelledArrays = tuple[Any, Any, Any]
"""Inputs, labels, and tasks or None."""


def from_parts(place: str, train: LabelledArrays, test: LabelledArrays | None, standardise: bool) -> OwnData:
    """Own data from arrays; the inputs may be anything with a shape and a dtype that becomes an array when asked."""
    shape = _shape_of(train[0])
    if test is not None and _shape_of(test[0]) != shape:
        raise InputError(f"Test inputs have shape {list(test[0].shape)}, training inputs {list(train[0].shape)}.")
    return OwnData(
        place,
        shape,
        _examples(place, "example", train),
        None if test is None else _examples(place, "test example", test),
        standardise,
        tasks_from="a task for each example (an array `task` beside x and y)",
    )


def _shape_of(x: Any) -> tuple[int, ...]:
    """The shape of one input as a network gets it; a text has none."""
    return () if len(x.shape) == 1 and x.dtype.kind in "UO" else input_shape(x.shape, x.dtype)


def gathered(examples: Iterable[Any], what: str = "example") -> LabelledArrays:
    """All examples in arrays. They are taken once, and must have inputs of one shape."""
    inputs: list[Array] = []
    labels: list[Any] = []
    tasks: list[Any] = []
    for position, example in enumerate(examples):
        try:
            x, y, *task = example
        except (TypeError, ValueError):
            raise InputError(f"{what.capitalize()} {position} is not (x, y, task) or (x, y).") from None
        array = as_array(x)
        if array.ndim == 0 or array.dtype.kind not in "biuf":
            raise InputError(f"The input of {what} {position} is not an array of numbers but {type(x).__name__}.")
        if inputs and array.shape != inputs[0].shape:
            raise InputError(
                f"The input of {what} {position} has shape {list(array.shape)}, those before it {list(inputs[0].shape)}; give "
                "all the same."
            )
        if len(task) > 1 or (position and bool(task) != bool(tasks)):
            raise InputError(
                f"{what.capitalize()} {position} is not made as those before it; give (x, y, task) throughout."
            )
        inputs.append(array)
        labels.append(y)
        tasks += task
    if not inputs:
        raise InputError(f"The iterable gave no {what}s; perhaps it was used up before.")
    return np.stack(inputs), labels, tasks or None


def _examples(place: str, what: str, part: LabelledArrays) -> Examples:
    x, labels, tasks = part

    def named(position: int) -> str:
        return f"{what} {position} of {place}"

    if x.shape[0] != len(labels):
        raise InputError(f"{place} has {x.shape[0]:,} inputs but {len(labels):,} labels; give one label for each.")
    return Examples(
        names_of(_listed(labels), lambda at: f"{named(at).capitalize()} has no label; give it one or leave it out."),
        None
        if tasks is None
        else names_of(_listed(tasks), lambda at: f"{named(at).capitalize()} has no task; give it one or leave it out."),
        lambda: as_inputs(np.asarray(x)) if _shape_of(x) else np.asarray(x).tolist(),
        named,
    )


def _listed(values: Any) -> list[Any]:
    """Labels or tasks one by one; the values of a list may be of any kind."""
    if not hasattr(values, "shape"):
        return list(values)
    array = as_array(values)
    if array.ndim != 1:
        raise InputError(f"Labels and tasks have one value for each example; these have shape {list(array.shape)}.")
    return list(array.tolist())


class _Stored:
    """An array in an .npz file: its shape and type are known at once, its numbers when asked for."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        with zipfile.ZipFile(path) as content, content.open(f"{name}.npy") as file:
            version = np.lib.format.read_magic(file)
            header: Callable[..., Any] = (
                np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            )
            self.shape, _, self.dtype = header(file)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        with _readable(self.path), np.load(self.path, allow_pickle=False) as content:
            array: Array = content[self.name]
            return array


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Names the file of whatever cannot be read in it."""
    try:
        yield
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} cannot be read as arrays of numbers and text ({error}); save it again.") from error


def _part(path: Path, names: dict[str, tuple[str, ...]]) -> LabelledArrays | None:
    with _readable(path):
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no .npz file, or not the whole of one")
            file.seek(0)
            content = np.load(file, allow_pickle=False)
            stored_as = {
                key: next((name for name in known if name in content.files), None) for key, known in names.items()
            }
            if stored_as["x"] is None or stored_as["y"] is None:
                return None
            labels, tasks = content[stored_as["y"]], content[stored_as["task"]] if stored_as["task"] else None
        return _Stored(path, stored_as["x"]), labels, tasks
