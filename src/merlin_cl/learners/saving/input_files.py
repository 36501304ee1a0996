"""Inputs from files, in the form in which a saved learner takes them: images, folders of them, arrays, tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.features.cache import Raw
from merlin_cl.features.raw import as_raw
from merlin_cl.inputs.arrays import as_inputs
from merlin_cl.inputs.pictures import SUFFIXES, header_of, read_images
from merlin_cl.inputs.tables import Table, read_table
from merlin_cl.learners.saving.saved import Inputs

TABLES = {".csv", ".tsv", ".parquet", ".pq"}
ARRAYS = ("x", "x_test", "X")
"""What the array of inputs in an .npz file may be called, unless it is the only one."""


class Read(NamedTuple):
    """Inputs, and what to call each."""

    x: Raw
    names: Sequence[str]


def read_inputs(path: Path, shape: tuple[int, ...], inputs: Inputs) -> Read:
    """All inputs in a file or folder, for a learner that takes inputs of a shape in some form; not standardised."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        if not files:
            raise InputError(f"{path} holds no images ({', '.join(sorted(SUFFIXES))}); put some there.")
        return _images(files, shape, inputs)
    if not path.is_file():
        raise UsageError(f"{path} is not there; give an image, a folder of images, an .npz file or a table.")
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return _images([path], shape, inputs)
    if suffix not in (".npz", *TABLES):
        raise UsageError(
            f"{path} is no image, folder of images, .npz file or table ({', '.join(sorted(TABLES))}) by its name."
        )
    x: Raw
    if suffix != ".npz":
        x = table_inputs(read_table(path), shape, inputs)
    elif inputs.form(shape).kind == "text":
        x = as_raw(_arrays(path))
    else:
        x = fitted(_arrays(path), shape, inputs, str(path))
    return Read(x, [str(row) for row in range(len(x))])


def require_images(place: Path, shape: tuple[int, ...], inputs: Inputs) -> None:
    """Refuse images for a learner that takes something else."""
    form = inputs.form(shape)
    shape = form.shape
    if form.kind == "text":
        raise InputError(
            f"{place} is an image, or holds images, but the learner takes texts; give a table with a column of them."
        )
    if len(shape) != 3 or form.kind != "bytes":
        kind = "images" if len(shape) == 3 else "rows"
        raise InputError(
            f"{place} is an image, or holds images, but the learner takes {kind} of numbers of shape {list(shape)}; give an "
            ".npz file."
        )


def _images(files: Sequence[Path], shape: tuple[int, ...], inputs: Inputs) -> Read:
    require_images(files[0], shape, inputs)
    for file in files:
        header_of(file, str(file))
    x = read_images(files, inputs.form(shape).shape)
    return Read(x, [str(file) for file in files])


def _arrays(path: Path) -> np.ndarray[Any, Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            known = [name for name in ARRAYS if name in content.files]
            if not known and len(content.files) != 1:
                raise ValueError(f"it holds {', '.join(content.files) or 'nothing'}, but no array x")
            array: np.ndarray[Any, Any] = content[known[0] if known else content.files[0]]
    except Exception as error:  # numpy, zipfile and zlib each have errors of their own for a damaged file
        raise InputError(f"{path} cannot be read as arrays of numbers ({error}); save it again.") from None
    return array


def table_inputs(table: Table, shape: tuple[int, ...], inputs: Inputs, names: Sequence[str] | None = None) -> Raw:
    """The rows of a table, of the columns that were learned from, or of some columns where these have no names."""
    columns = inputs.columns or tuple(table.columns if names is None else names)
    if not len(table):
        raise InputError(f"{table.place} has no rows; give a header and a row for each input.")
    if inputs.encoding is not None:
        return fitted(inputs.encoding.rows(table, inputs.fill), shape, inputs, table.place)
    if inputs.form(shape).kind != "text":
        numbers = [table.numbers(name, missing=inputs.fill) for name in columns]
        return fitted(np.stack(numbers, axis=1), shape, inputs, table.place)
    if len(columns) != 1:
        raise InputError(
            f"{table.place} has {len(columns)} columns, and the learner takes one of texts; give a table with that one."
        )
    return table.texts(columns[0])


def fitted(array: np.ndarray[Any, Any], shape: tuple[int, ...], inputs: Inputs, place: str) -> Tensor:
    """Rows in the form of those learned from, before they are standardised or become features."""
    form = inputs.form(shape)
    shape, is_bytes = form.shape, form.kind == "bytes"
    if is_bytes and array.dtype != np.uint8:
        if array.dtype.kind not in "biuf" or not np.all((array >= 0) & (array <= 255) & (array == np.floor(array))):
            raise InputError(f"{place} has numbers that are no bytes; the learner takes whole numbers from 0 to 255.")
        array = array.astype(np.uint8)
    x = as_inputs(array) if array.ndim > 1 else as_inputs(array.reshape(1, -1))
    if tuple(x.shape[1:]) != shape and len(x) and x[0].numel() == int(np.prod(shape)):
        x = x.reshape(len(x), *shape)  # an image as a row
    if tuple(x.shape[1:]) != shape:
        raise InputError(f"{place} has inputs of shape {list(x.shape[1:])}; the learner takes {list(shape)}.")
    return x if is_bytes else x.float()
