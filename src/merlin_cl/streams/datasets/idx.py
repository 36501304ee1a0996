"""The idx format in which MNIST is published: two zero bytes, a type code, the number of dimensions, each dimension as a
big-endian 32-bit number, then the values. Files may be plain or compressed (.gz, .xz)."""

import gzip
import lzma
import math
import struct
import zlib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.regular_files import open_regular

UNSIGNED_BYTE = 0x08
UNPACK: dict[str, Any] = {".gz": gzip.GzipFile, ".xz": lzma.LZMAFile}
LARGEST = 1 << 30
"""Values that a file may announce; the largest official ones, EMNIST's, have half as many."""
BLOCK = 1 << 20


def read_idx(file: Traversable, dimensions: int) -> Tensor:
    """The values of an idx file of unsigned bytes, uint8 with that many dimensions."""
    try:
        with _opened(file) as stored:
            unpack = next((unpack for suffix, unpack in UNPACK.items() if file.name.endswith(suffix)), None)
            if unpack is None:
                return _values(file, stored, dimensions)
            with unpack(stored) if unpack is lzma.LZMAFile else unpack(fileobj=stored) as unpacked:
                return _values(file, unpacked, dimensions)
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise InputError(f"{file} is damaged ({error}); fetch it again.") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); check that it is a file you may read.") from error


def _opened(file: Traversable) -> IO[bytes]:
    return open_regular(file) if isinstance(file, Path) else file.open("rb")


def _values(file: Traversable, content: IO[bytes], dimensions: int) -> Tensor:
    """What the content holds, read no further than its header says."""
    start = content.read(4)
    magic = bytes((0, 0, UNSIGNED_BYTE, dimensions))
    if start != magic:
        raise InputError(
            f"{file} starts with {start.hex() or 'nothing'} instead of {magic.hex()}, so it is not an idx file of "
            f"bytes in {dimensions} dimension{'s' * (dimensions > 1)}; put the official file in its place."
        )
    sides = content.read(4 * dimensions)
    if len(sides) < 4 * dimensions:
        raise InputError(f"{file} is cut off within its first {4 + 4 * dimensions} bytes; fetch it again.")
    shape = struct.unpack(f">{dimensions}I", sides)
    values = math.prod(shape)
    announced = f"{file} announces {' x '.join(map(str, shape))} = {values:,} values"
    if values > LARGEST:
        raise InputError(f"{announced}, more than the {LARGEST:,} that are read; put the official file in its place.")
    if values == 0:
        raise InputError(f"{file} holds no values; put the official file in its place.")
    read = bytearray()  # grows with what is there, whatever was announced; torch wants memory it may write to
    while len(read) <= values and (block := content.read(min(BLOCK, values + 1 - len(read)))):
        read += block
    if len(read) != values:
        there = f"{len(read):,}" if len(read) < values else "more"
        raise InputError(f"{announced} but holds {there}; fetch it again.")
    return torch.frombuffer(read, dtype=torch.uint8).reshape(shape)
