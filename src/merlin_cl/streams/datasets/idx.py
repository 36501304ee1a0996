"""The idx format in which MNIST is published: two zero bytes, a type code, the number of dimensions, each dimension as a
big-endian 32-bit number, then the values. Files may be plain or compressed (.gz, .xz)."""

import gzip
import lzma
import math
import struct
import zlib
from importlib.resources.abc import Traversable

import torch
from torch import Tensor

from merlin_cl.errors import InputError

UNSIGNED_BYTE = 0x08
DECOMPRESS = {".gz": gzip.decompress, ".xz": lzma.decompress}


def read_idx(file: Traversable, dimensions: int) -> Tensor:
    """The values of an idx file of unsigned bytes, uint8 with that many dimensions."""
    content = _content(file)
    magic = bytes((0, 0, UNSIGNED_BYTE, dimensions))
    if content[:4] != magic:
        raise InputError(
            f"{file} starts with {content[:4].hex() or 'nothing'} instead of {magic.hex()}, so it is not an idx file of "
            f"bytes in {dimensions} dimension{'s' * (dimensions > 1)}; put the official file in its place."
        )
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise InputError(f"{file} is cut off within its first {header} bytes; fetch it again.")
    shape = struct.unpack(f">{dimensions}I", content[4:header])
    values = math.prod(shape)
    if len(content) - header != values:
        raise InputError(
            f"{file} announces {' x '.join(map(str, shape))} = {values:,} values but holds {len(content) - header:,}; "
            "fetch it again."
        )
    if values == 0:
        raise InputError(f"{file} holds no values; put the official file in its place.")
    # A bytearray, as torch wants memory it may write to.
    return torch.frombuffer(bytearray(content), dtype=torch.uint8, offset=header).reshape(shape)


def _content(file: Traversable) -> bytes:
    """The bytes of a file, decompressed where its name says so."""
    try:
        stored = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); check that it is a file you may read.") from error
    for suffix, decompress in DECOMPRESS.items():
        if file.name.endswith(suffix):
            try:
                return decompress(stored)
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise InputError(f"{file} is damaged ({error}); fetch it again.") from error
    return stored
