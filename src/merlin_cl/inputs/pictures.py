"""Image files, decoded when they are wanted.

Whatever a file holds is brought to the channels asked for: a grey image among colour ones is repeated in every channel, a
palette is resolved, transparency is dropped.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from merlin_cl.errors import InputError

SUFFIXES = {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
UNREADABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
"""What Pillow raises at a file that is damaged, or no image."""
GREY, DEEP = ("1", "L", "LA", "La"), ("I", "F")


class Header(NamedTuple):
    """What a file says of its image before it is decoded."""

    size: tuple[int, int]  # width, height
    grey: bool


def read_images(files: Sequence[Path], shape: tuple[int, ...]) -> Tensor:
    """The images in files, decoded, uint8 [N, *shape]."""
    channels, height, width = shape
    x = torch.empty(len(files), *shape, dtype=torch.uint8)
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


def header_of(file: Path | BinaryIO, name: str) -> Header:
    """What an image file says of itself."""
    try:
        with Image.open(file) as image:
            size, mode = image.size, image.mode
    except UNREADABLE as error:
        raise unreadable(name, error) from error
    if mode.startswith(DEEP):
        raise InputError(f"{name} has more than 8 bits a pixel; save it with 8 bits a channel.")
    return Header(size, mode in GREY)


def shape_of(files: Sequence[Path], image_size: int) -> tuple[int, int, int]:
    """Channels, height and width that suit all images."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        headers = threads.map(lambda file: header_of(file, str(file)), files)
        return common_shape({str(file): header for file, header in zip(files, headers, strict=True)}, image_size)


def common_shape(headers: Mapping[str, Header], image_size: int) -> tuple[int, int, int]:
    """Channels, height and width for images by name: three channels if one of them has colours."""
    channels = 1 if all(header.grey for header in headers.values()) else 3
    if image_size:
        return channels, image_size, image_size
    first, (width, height) = next((name, header.size) for name, header in headers.items())
    for name, header in headers.items():
        if header.size != (width, height):
            raise InputError(
                f"{name} has {header.size[0]} by {header.size[1]} pixels but {first} {width} by {height}; say which size all "
                "are to be brought to with image_size (--image-size 32)."
            )
    return channels, height, width


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
