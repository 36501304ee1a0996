"""MNIST and what has its form: four idx files. A slice of MNIST is within the package."""

from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable

import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.class_lists import official_classes
from merlin_cl.streams.datasets.dataset import DataSet, LoadedPart, PartName
from merlin_cl.streams.datasets.idx import read_idx

SUFFIXES = ("", ".gz", ".xz")
FILE_NAMES = {"train": "train", "test": "t10k"}


def mnist(place: Traversable) -> DataSet:
    """MNIST from a folder."""
    return DataSet("MNIST", str(place), official_classes("mnist"), partial(read_part, place))


def embedded_mnist() -> DataSet:
    """The slice of MNIST within the package."""
    counted = "embedded slice of the first {:,} training images"
    return DataSet("MNIST", "the package", official_classes("mnist"), _embedded_part, counted)


def _embedded_part(part: PartName) -> LoadedPart:
    unpacked = _unpacked(part)
    return LoadedPart(unpacked.x.clone(), unpacked.labels.clone())


@cache
def _unpacked(part: PartName) -> LoadedPart:
    """A part of the embedded slice, unpacked once a process: searches and grids ask for it again and again."""
    return read_part(files("merlin_cl.streams") / "embedded", part)


def fashion_mnist(place: Traversable) -> DataSet:
    """Fashion-MNIST from a folder."""
    return DataSet("Fashion-MNIST", str(place), official_classes("fashion-mnist"), partial(read_part, place))


def read_part(place: Traversable, part: PartName) -> LoadedPart:
    """One part from its two files, checked: x uint8 [N, 1, 28, 28], labels int64 [N]."""
    images_file = _file(place, f"{FILE_NAMES[part]}-images-idx3-ubyte")
    labels_file = _file(place, f"{FILE_NAMES[part]}-labels-idx1-ubyte")
    images = read_idx(images_file, dimensions=3)  # [N, 28, 28]
    labels = read_idx(labels_file, dimensions=1)  # [N]
    if images.shape[1:] != (28, 28):
        raise InputError(
            f"{images_file} holds images of {images.shape[1]} by {images.shape[2]} pixels instead of 28 by 28; "
            "put the official file in its place."
        )
    if len(images) != len(labels):
        raise InputError(
            f"{images_file} holds {len(images):,} images but {labels_file} {len(labels):,} labels; fetch both again."
        )
    if int(labels.max()) > 9:
        raise InputError(f"{labels_file} holds the label {int(labels.max())}; labels are 0 to 9. Fetch it again.")
    return LoadedPart(images.unsqueeze(1), labels.to(torch.int64))


def _file(place: Traversable, name: str) -> Traversable:
    for suffix in SUFFIXES:
        if (file := place / (name + suffix)).is_file():
            return file
    raise InputError(f"{place} lacks {name} (plain or .gz); put the official file there.")
