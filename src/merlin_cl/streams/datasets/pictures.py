"""Images in files of their own, decoded when a task wants them.

Whatever a file holds is brought to the channels asked for: a grey image among colour ones is repeated in every channel, a
palette is resolved, transparency is dropped.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets.dataset import Part, PartName
from merlin_cl.streams.datasets.division import division

SUFFIXES = {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
"""What Pillow raises at a file that is damaged, or no image."""


class PictureFiles(Part):
    """Examples of which each is an image file."""

    def __init__(self, files: Sequence[Path], labels: Sequence[int]) -> None:
        super().__init__(torch.tensor(labels, dtype=torch.int64))
        self.files = tuple(files)

    def divided(self, share: int, part: PartName) -> "PictureFiles":
        """One part of a set published as a whole: of each class the last 1/share is for testing."""
        at = division(self.labels, share, part).tolist()
        return PictureFiles([self.files[position] for position in at], self.labels[at].tolist())

    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The images at the positions `at`, decoded."""
        channels, height, width = shape
        x = torch.empty(len(at), *shape, dtype=torch.uint8)
        files = [self.files[position] for position in at.tolist()]
        with ThreadPoolExecutor(os.cpu_count()) as threads:  # decoding lets other threads run
            pixels = threads.map(lambda file: decoded(file, channels, (width, height)), files)
            for row, image in zip(x.numpy(), pixels, strict=True):
                row[:] = image.transpose(2, 0, 1)
        return x


def decoded(file: Path | BinaryIO, channels: int, size: tuple[int, int], name: str = "") -> np.ndarray:
    """The pixels of an image of (width, height), uint8 [height, width, channels]; resized if need be (bilinear, antialiased).

    `name` is what to call the file in a message, if not by its path.
    """
    try:
        with Image.open(file) as opened:
            image = opened.convert("L" if channels == 1 else "RGB")
    except UNREADABLE as error:
        raise unreadable(name or file, error) from error
    if image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR)
    return np.asarray(image).reshape(size[1], size[0], channels)


def unreadable(file: Path | BinaryIO | str, error: Exception) -> InputError:
    """The error for a file that Pillow does not take."""
    reason = str(error).replace(f" {str(file)!r}", "") or type(error).__name__
    return InputError(f"{file} cannot be read as an image ({reason}); replace it or take it away.")


def images_in(folder: Path) -> list[Path]:
    """The image files of a folder, by name."""
    return sorted(
        file for file in _entries(folder) if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    )


def folders_in(folder: Path) -> list[Path]:
    """The folders within a folder, by name."""
    return sorted(one for one in _entries(folder) if one.is_dir() and not one.name.startswith("."))


def _entries(folder: Path) -> Iterator[Path]:
    try:
        return iter(list(folder.iterdir()))
    except OSError as error:
        raise InputError(
            f"{folder} cannot be read ({error.strerror}); check that it is a folder you may read."
        ) from error
