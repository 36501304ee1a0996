"""CIFAR-10 and CIFAR-100 as Toronto publishes them for Python: pickled batches of rows, each a 32 by 32 image plane by plane."""

from functools import partial
from pathlib import Path

import numpy as np
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.class_lists import official_classes
from merlin_cl.streams.datasets.dataset import DataSet, LoadedPart, PartName
from merlin_cl.streams.datasets.pickled import read_pickle
from merlin_cl.streams.datasets.unpickling import OFFICIAL

BATCHES: dict[str, dict[PartName, tuple[str, ...]]] = {
    "cifar10": {"train": tuple(f"data_batch_{number}" for number in range(1, 6)), "test": ("test_batch",)},
    "cifar100": {"train": ("train",), "test": ("test",)},
}
LABELS = {"cifar10": "labels", "cifar100": "fine_labels"}
PIXELS = (3, 32, 32)


def cifar10(place: Path) -> DataSet:
    """CIFAR-10 from its folder."""
    return DataSet("CIFAR-10", str(place), official_classes("cifar10"), partial(_read, "cifar10", place))


def cifar100(place: Path) -> DataSet:
    """CIFAR-100 from its folder; the classes are the hundred fine ones."""
    return DataSet("CIFAR-100", str(place), official_classes("cifar100"), partial(_read, "cifar100", place))


def _read(name: str, place: Path, part: PartName) -> LoadedPart:
    rows, labels = zip(*(_batch(name, place / file) for file in BATCHES[name][part]), strict=True)
    x = torch.from_numpy(np.concatenate(rows))  # uint8 [N, 3072]; a copy, as a pickle's bytes cannot be written to
    return LoadedPart(x.view(-1, *PIXELS), torch.from_numpy(np.concatenate(labels)))


def _batch(name: str, file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows uint8 [n, 3072] and labels int64 [n] of a file, checked."""
    if not file.is_file():
        raise InputError(f"{file.parent} lacks {file.name}; `merlin data get {name}` fetches it.")
    batch, key = read_pickle(file), LABELS[name]
    if not isinstance(batch, dict) or "data" not in batch or key not in batch:
        raise InputError(
            f"{file} holds no 'data' and {key!r}, so it is not of {name}; put the official file in its place."
        )
    rows, labels = batch["data"], batch[key]
    if getattr(rows, "dtype", None) != np.uint8 or rows.ndim != 2 or rows.shape[1] != 3072 or not len(rows):
        shape = " x ".join(map(str, getattr(rows, "shape", ())))
        raise InputError(
            f"{file} holds images as {shape or type(rows).__name__} instead of n x 3072 bytes; fetch it again."
        )
    if not isinstance(labels, list) or not all(type(label) is int for label in labels):
        raise InputError(f"{file} holds {key!r} that are not a list of numbers; {OFFICIAL}")
    if len(labels) != len(rows):
        raise InputError(f"{file} holds {len(rows):,} images but {len(labels):,} labels; fetch it again.")
    most = len(official_classes(name)) - 1
    if min(labels) < 0 or max(labels) > most:
        worst = max(labels) if max(labels) > most else min(labels)
        raise InputError(f"{file} holds the label {str(worst)[:20]}; labels are 0 to {most}. Fetch it again.")
    return rows, np.array(labels, np.int64)
