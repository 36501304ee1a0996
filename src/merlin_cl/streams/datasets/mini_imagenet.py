"""Mini-ImageNet: 100 classes of ImageNet, 600 images each, 84 by 84 pixels.

In either of its usual forms: image files with the split files train.csv, val.csv and test.csv of Ravi and Larochelle (or
without them: the WordNet id is in the name of a file or of its folder), or the three pickles mini-imagenet-cache-*.pkl. Both
divide the classes; what is needed here is a division of each class's images: that of parts.csv (filename, label, task, part) if
there is such a file, otherwise the usual one, the first 500 in the order of the files for training and the last 100 for testing.
"""

import csv
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import SUFFIXES
from merlin_cl.streams.class_lists import official_classes, wordnet_ids
from merlin_cl.streams.datasets.dataset import DataSet, Part, PartName, division, fitted
from merlin_cl.streams.datasets.pickled import read_pickle
from merlin_cl.streams.datasets.picture_files import PictureFiles

SHARE = 6
"""One image in so many of a class is for testing."""
WORDNET_ID = re.compile(r"n\d{8}")
SPLITS = ("train.csv", "val.csv", "test.csv")


def mini_imagenet(place: Path) -> DataSet:
    """Mini-ImageNet from its folder."""
    pickles = sorted(place.glob("mini-imagenet-cache-*.pkl"))
    read = partial(_read_pickles, pickles) if pickles else partial(_read_files, place)
    return DataSet("mini-ImageNet", str(place), official_classes("mini-imagenet"), read)


def _read_files(place: Path, part: PartName) -> PictureFiles:
    images = place / "images" if (place / "images").is_dir() else place
    if (place / "parts.csv").is_file():
        rows = [row for row in _rows(place / "parts.csv", "part") if row["part"] == part]
        return _picture_files(place / "parts.csv", images, rows)
    tables = [table for name in SPLITS if (table := place / name).is_file()]
    if tables:
        parts = [_picture_files(table, images, _rows(table)) for table in tables]
        files = [file for one in parts for file in one.files]
        labels = [label for one in parts for label in one.labels.tolist()]
    else:
        files = sorted(file for file in images.rglob("*") if file.suffix.lower() in SUFFIXES)
        labels = [_label(_wordnet_id(file), file) for file in files]
    return PictureFiles(files, labels).divided(SHARE, part)


def _rows(table: Path, *more: str) -> list[dict[str, str]]:
    """The rows of a csv file that must have the columns filename, label and `more`."""
    with table.open(newline="", encoding="utf-8") as content:
        reader = csv.DictReader(content)
        lacking = {"filename", "label", *more} - set(reader.fieldnames or ())
        if lacking:
            raise InputError(f"{table} lacks the column {sorted(lacking)[0]!r}; put the usual file in its place.")
        return list(reader)


def _picture_files(table: Path, images: Path, rows: Iterable[dict[str, str]]) -> PictureFiles:
    there = {file.name for file in images.iterdir()}
    files, labels = [], []
    for row in rows:
        if row["filename"] not in there:
            raise InputError(f"{table} lists {row['filename']}, which is not in {images}; add it or take out its row.")
        files.append(images / row["filename"])
        labels.append(_label(row["label"], table))
    return PictureFiles(files, labels)


def _wordnet_id(file: Path) -> str:
    match = WORDNET_ID.match(file.name) or WORDNET_ID.fullmatch(file.parent.name)
    if match is None:
        raise InputError(
            f"Neither {file} nor its folder is named after a class (as in n01532829); rename or remove it."
        )
    return match.group()


def _label(wordnet_id: str, where: Path) -> int:
    try:
        return wordnet_ids().index(wordnet_id)
    except ValueError:
        raise InputError(
            f"{where} has the class {wordnet_id[:30]!r}, which is not one of mini-ImageNet's hundred."
        ) from None


class _PickledImages(Part):
    """Images in pickles, which are opened one after another each time: together they take more than a gigabyte."""

    def __init__(self, origins: list[tuple[Path, int]], labels: Tensor) -> None:
        super().__init__(labels)
        self.origins = origins  # the pickle and the row in it, for each image

    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The images at the positions `at`."""
        x = torch.empty(len(at), *shape, dtype=torch.uint8)
        wanted = [self.origins[position] for position in at.tolist()]
        for pickle in dict.fromkeys(pickle for pickle, _ in wanted):
            to = [place for place, (origin, _) in enumerate(wanted) if origin == pickle]
            images = _opened(pickle)[0][[wanted[place][1] for place in to]]  # uint8 [n, 84, 84, 3]
            x[to] = fitted(torch.from_numpy(images).permute(0, 3, 1, 2), shape)
        return x


def _read_pickles(pickles: list[Path], part: PartName) -> _PickledImages:
    origins: list[tuple[Path, int]] = []
    labels: list[int] = []
    for pickle in pickles:
        images, classes = _opened(pickle)
        for wordnet_id, rows in classes.items():
            label = _label(wordnet_id, pickle)
            if not isinstance(rows, list) or not all(type(row) is int and 0 <= row < len(images) for row in rows):
                raise InputError(
                    f"{pickle} gives {wordnet_id} rows that are not among its {len(images):,} images; fetch it again."
                )
            origins += [(pickle, row) for row in rows]
            labels += [label] * len(rows)
    at = division(torch.tensor(labels), SHARE, part)
    return _PickledImages([origins[position] for position in at.tolist()], torch.tensor(labels)[at])


def _opened(pickle: Path) -> tuple[np.ndarray, dict[str, list[Any]]]:
    """Images uint8 [n, height, width, 3] and the rows of each class."""
    match read_pickle(pickle):
        case {"image_data": np.ndarray(dtype=np.uint8, ndim=4) as images, "class_dict": dict() as classes}:
            if images.shape[3] == 3 and images.size and classes:
                return images, classes
    raise InputError(
        f"{pickle} holds no 'image_data' of colour images with 'class_dict'; put the usual file in its place."
    )
