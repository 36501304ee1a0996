"""notMNIST: the letters A to J in many fonts. As idx files in the form of MNIST, or as published: notMNIST_small, a folder of png
files for each letter.

The published set has one part. So have the idx files where those named train-* are missing. Of each letter the last fifth, in the
order of the files, is then for testing.
"""

from functools import partial
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import images_in
from merlin_cl.streams.datasets.dataset import DataSet, LoadedPart, Part, PartName, division
from merlin_cl.streams.datasets.mnist import read_part
from merlin_cl.streams.datasets.picture_files import PictureFiles

LETTERS = tuple("ABCDEFGHIJ")
SHARE = 5


def not_mnist(place: Path) -> DataSet:
    """notMNIST from its folder."""
    read = partial(_read_idx if next(place.glob("t10k-*"), None) else _read_folders, place)
    return DataSet("notMNIST", str(place), LETTERS, read)


def _read_idx(place: Path, part: PartName) -> Part:
    if next(place.glob("train-*"), None):
        return read_part(place, part)
    whole = read_part(place, "test")
    at = division(whole.labels, SHARE, part)
    return LoadedPart(whole.x[at], whole.labels[at])


def _read_folders(place: Path, part: PartName) -> PictureFiles:
    files: list[Path] = []
    labels: list[int] = []
    for label, letter in enumerate(LETTERS):
        if not (place / letter).is_dir():
            raise InputError(f"{place} has no folder {letter}; `merlin data get notmnist` fetches the letters A to J.")
        # Two of the published images are empty files; they are left out.
        images = [file for file in images_in(place / letter) if file.stat().st_size]
        files += images
        labels += [label] * len(images)
    return PictureFiles(files, labels).divided(SHARE, part)
