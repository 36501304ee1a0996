"""Arrays of numbers in MATLAB's level 5 files: a header of 128 bytes, then elements, each with a tag that says its type and its
length in bytes; a compressed element holds another one. Only what arrays of numbers need is read."""

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from merlin_cl.errors import InputError
from merlin_cl.regular_files import read_regular

MATRIX, COMPRESSED = 14, 15
KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Types of numbers, by their number in a tag."""
LARGEST = 1 << 30
"""Bytes of a file, and of an array; SVHN's largest have a quarter of that."""
BLOCK = 1 << 20
MOST = 1000
"""Elements in a file; SVHN's have two."""
NUMERIC = range(6, 16)
"""Classes of arrays that hold numbers: double to uint64."""


def read_matlab(file: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of numbers in a file, by name; arrays of anything else are passed over."""
    try:
        content = read_regular(file, LARGEST)
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); check that it is a file you may read.") from error
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise InputError(f"{file} is no MATLAB file of level 5; put the official file in its place.")
    try:
        return dict(filter(None, (_matrix(body, order) for body in _matrices(memoryview(content)[128:], order))))
    except (struct.error, zlib.error, ValueError, IndexError, KeyError) as error:
        raise InputError(f"{file} is damaged or cut off ({error}); fetch it again.") from error


def _matrices(content: memoryview, order: str) -> list[memoryview]:
    """The bodies of all arrays."""
    matrices: list[memoryview | None] = []
    while len(content):
        if len(matrices) == MOST:
            raise ValueError(f"more than {MOST} arrays")
        kind, body, content = _element(content, order)
        if kind == COMPRESSED:
            kind, body, _ = _element(_decompressed(body, order), order)
        matrices.append(body if kind == MATRIX else None)
    return [body for body in matrices if body is not None]


def _decompressed(body: memoryview, order: str) -> memoryview:
    """The element within a compressed one, unpacked no further than its own tag says."""
    unpacking, unpacked, most = zlib.decompressobj(), bytearray(), LARGEST
    for start in range(0, len(body), BLOCK):
        rest: bytes | memoryview = body[start : start + BLOCK]
        while len(rest):
            unpacked += unpacking.decompress(rest, BLOCK)
            rest = unpacking.unconsumed_tail
            if len(unpacked) >= 8:
                kind, length = struct.unpack(f"{order}II", unpacked[:8])
                most = 16 if kind >> 16 else 16 + length  # padding is at most seven bytes
            if len(unpacked) > min(most, LARGEST):
                raise ValueError("a compressed array is longer than it says")
    if not unpacking.eof:
        raise ValueError("a compressed array is cut off")
    return memoryview(unpacked)


def _element(content: memoryview, order: str) -> tuple[int, memoryview, memoryview]:
    """The type and the bytes of the first element, and what comes after it."""
    kind, length = struct.unpack(f"{order}II", content[:8])
    if kind >> 16:  # at most four bytes, within the tag itself
        return kind & 0xFFFF, content[4 : 4 + (kind >> 16)], content[8:]
    if len(content) < 8 + length:
        raise ValueError(f"{length:,} bytes announced, {len(content) - 8:,} there")
    end = 8 + length
    return kind, content[8:end], content[end if kind == COMPRESSED else 8 * math.ceil(end / 8) :]


def _matrix(body: memoryview, order: str) -> tuple[str, np.ndarray[Any, Any]] | None:
    """The name and the values of an array."""
    _, flags, body = _element(body, order)
    _, shape, body = _element(body, order)
    _, name, body = _element(body, order)
    if struct.unpack(f"{order}I", flags[:4])[0] & 0xFF not in NUMERIC:
        return None
    kind, values, _ = _element(body, order)
    array = np.frombuffer(values, dtype=order + KINDS[kind])
    return bytes(name).decode("ascii"), array.reshape(np.frombuffer(shape, dtype=f"{order}i4"), order="F")
