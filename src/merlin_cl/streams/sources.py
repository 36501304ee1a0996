"""Where MNIST comes from: a folder with the official files if there is one, otherwise the slice within the package.

Looked through in this order: the folder the user names, the one in the environment variable MERLIN_DATA, the cache folder of
the platform; in each of them `MNIST/raw/`, `mnist/` and the folder itself.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

import platformdirs
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.idx import read_idx
from merlin_cl.streams.stream import Pool

Part = Literal["train", "t10k"]
SUBFOLDERS = ("MNIST/raw", "mnist", ".")
SUFFIXES = ("", ".gz", ".xz")
HINT = "give a folder with the four official MNIST files (idx, plain or .gz), or none to use the embedded slice"


@dataclass(frozen=True)
class MnistSource:
    """A place that holds MNIST. Each part is read when asked for, so whoever trains alone never opens the test set."""

    folder: Traversable
    embedded: bool = False

    def pool(self, part: Part) -> Pool:
        """The examples of a part, checked: x uint8 [N, 1, 28, 28], y int64 [N]."""
        images_file, labels_file = self._file(f"{part}-images-idx3-ubyte"), self._file(f"{part}-labels-idx1-ubyte")
        images = read_idx(images_file, dimensions=3)  # [N, 28, 28]
        labels = read_idx(labels_file, dimensions=1)  # [N]
        if images.shape[1:] != (28, 28):
            raise InputError(
                f"{images_file} holds images of {images.shape[1]} by {images.shape[2]} pixels instead of 28 by 28; {HINT}."
            )
        if len(images) != len(labels):
            raise InputError(
                f"{images_file} holds {len(images):,} images but {labels_file} {len(labels):,} labels; fetch both again."
            )
        if int(labels.max()) > 9:
            raise InputError(f"{labels_file} holds the label {int(labels.max())}; digits are 0 to 9. Fetch it again.")
        return Pool(images.unsqueeze(1), labels.to(torch.int64))

    def describe(self, train: Pool) -> str:
        """The source in words, for the record of a run."""
        if self.embedded:
            return f"embedded slice (first {len(train):,} training images)"
        return f"{self.folder} ({len(train):,} training images)"

    def _file(self, name: str) -> Traversable:
        file = _find(self.folder, name)
        if file is None:
            raise InputError(f"{self.folder} lacks {name} (plain or .gz); {HINT}.")
        return file


def mnist_source(data: str | Path | None = None) -> MnistSource:
    """The place to read MNIST from. A folder named by the user must have it; elsewhere the search goes on."""
    if data is not None:
        source = _in_folder(_existing(data, "The data folder"))
        if source is None:
            raise InputError(f"There is no MNIST in {data}; {HINT}.")
        return source
    for folder in _usual_folders():
        source = _in_folder(folder)
        if source is not None:
            return source
    return MnistSource(files("merlin_cl.streams") / "embedded", embedded=True)


def _usual_folders() -> Iterator[Path]:
    if named := os.environ.get("MERLIN_DATA"):
        yield _existing(named, "MERLIN_DATA, the data folder")
    yield Path(platformdirs.user_cache_dir("merlin-cl", appauthor=False))


def _existing(folder: str | Path, what: str) -> Path:
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise InputError(f"{what} {folder} is not a folder; {HINT}.")
    return path


def _in_folder(folder: Path) -> MnistSource | None:
    """The first subfolder with any MNIST file: one that is incomplete is reported when read, not passed over."""
    names = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    for subfolder in SUBFOLDERS:
        place = folder / subfolder
        if any(_find(place, name) for name in names):
            return MnistSource(place)
    return None


def _find(folder: Traversable, name: str) -> Traversable | None:
    return next((file for suffix in SUFFIXES if (file := folder / (name + suffix)).is_file()), None)
