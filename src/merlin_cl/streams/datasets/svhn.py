"""SVHN, house numbers cut to single digits of 32 by 32 pixels, from its two MATLAB files. The label 10 stands for the digit 0."""

from functools import partial
from pathlib import Path

import numpy as np
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets.dataset import DataSet, LoadedPart, PartName
from merlin_cl.streams.datasets.matlab import read_matlab

DIGITS = tuple("0123456789")


def svhn(place: Path) -> DataSet:
    """SVHN from its folder."""
    return DataSet("SVHN", str(place), DIGITS, partial(_read, place))


def _read(place: Path, part: PartName) -> LoadedPart:
    file = place / f"{part}_32x32.mat"
    if not file.is_file():
        raise InputError(f"{place} lacks {file.name}; `merlin data get svhn` fetches it.")
    arrays = read_matlab(file)
    x, y = arrays.get("X", np.empty(0)), arrays.get("y", np.empty(0)).ravel()
    if x.dtype != np.uint8 or x.shape[:3] != (32, 32, 3) or x.ndim != 4 or len(y) != x.shape[3] or not len(y):
        raise InputError(
            f"{file} holds no images of 32 by 32 pixels with a label each; put the official file in its place."
        )
    if y.min() < 1 or y.max() > 10:
        raise InputError(
            f"{file} holds the label {y.max() if y.max() > 10 else y.min()}; labels are 1 to 10. Fetch it again."
        )
    return LoadedPart(
        torch.from_numpy(np.ascontiguousarray(x.transpose(3, 2, 0, 1))),  # [N, 3, 32, 32]
        torch.from_numpy(y.astype(np.int64) % 10),
    )
