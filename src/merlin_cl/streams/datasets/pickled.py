"""Pickles of arrays and plain containers, read without ever running what a pickle may hold.

The names with which numpy writes an array are known, and each is stood in for by a class that only keeps the numbers.
"""

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from merlin_cl.errors import InputError
from merlin_cl.regular_files import open_regular
from merlin_cl.streams.datasets.unpickling import OFFICIAL, Machine, StandIn

NUMBERS = re.compile(r"[biu][1248]|f[248]")
"""Types of plain numbers: a kind and a width in bytes."""


def read_pickle(file: Path) -> Any:
    """The value in a pickle, written by Python 2 or 3: numbers, text, containers and numpy arrays of numbers (read-only)."""
    try:
        with open_regular(file) as content:
            return Machine(content, os.fstat(content.fileno()).st_size, ADMITTED).load()
    except InputError as error:
        raise InputError(f"{file} {error}") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); check that it is a file you may read.") from error
    except Exception as error:  # a damaged pickle can fail in any way
        raise InputError(f"{file} is damaged or no pickle ({error}); fetch it again.") from error


class _Type(StandIn):
    """Stands in for numpy.dtype."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code = _text(code)
        self.order = "="
        if not isinstance(self.code, str) or not NUMBERS.fullmatch(self.code):
            raise InputError(f"holds an array of something other than numbers; {OFFICIAL}")

    def build(self, state: Any) -> None:
        """Take the byte order, which is all that a type of numbers has beside its code."""
        if not isinstance(state, tuple) or len(state) < 2:
            raise InputError(f"holds an array of an unknown type; {OFFICIAL}")
        order = _text(state[1])
        self.order = order if order in ("<", ">") else "="

    def plain(self) -> Any:
        """Nothing: data sets hold arrays, not types."""
        raise InputError(f"holds a type instead of data; {OFFICIAL}")

    def numpy(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = np.dtype(self.order + self.code)
        return kind


class _Array(StandIn):
    """Stands in for numpy.ndarray."""

    value: np.ndarray[Any, Any]

    def __init__(self, *_: Any) -> None:
        self.value = np.empty(0)

    def build(self, state: Any) -> None:
        """Take shape, type, order and content."""
        if not isinstance(state, tuple) or len(state) != 5:
            raise InputError(f"holds an array in an unknown form; {OFFICIAL}")
        _, shape, kind, by_columns, content = state
        if isinstance(content, str):  # bytes that Python 3 wrote for protocol 2
            content = content.encode("latin-1")
        self.value = _array(content, kind, shape, "F" if by_columns is True else "C")

    def plain(self) -> Any:
        """The array."""
        return self.value

    @property
    def size(self) -> int:
        """Bytes of its numbers."""
        return self.value.nbytes


def _reconstructed(*_: Any) -> _Array:
    """Stands in for the function with which an empty array is made, to be given its state."""
    return _Array()


def _frombuffer(content: Any, kind: Any, shape: Any, order: Any) -> _Array:
    """Stands in for the function with which newer pickles make an array."""
    made = _Array()
    made.value = _array(content, kind, shape, _text(order))
    return made


def _array(content: Any, kind: Any, shape: Any, order: Any) -> np.ndarray[Any, Any]:
    if not isinstance(kind, _Type) or not isinstance(content, bytes | bytearray):
        raise InputError(f"holds an array that is not made of plain numbers; {OFFICIAL}")
    if not isinstance(shape, tuple) or not all(type(side) is int and side >= 0 for side in shape):
        raise InputError(f"holds an array of an impossible shape; {OFFICIAL}")
    announced, there = math.prod(shape) * kind.numpy().itemsize, len(content)
    if announced != there:
        raise ValueError(f"an array of {announced:,} bytes announced, {there:,} there")
    return np.frombuffer(content, dtype=kind.numpy()).reshape(shape, order="F" if order == "F" else "C")


def _encode(text: Any, encoding: Any) -> bytes:
    """Stands in for _codecs.encode, with which Python 3 writes bytes for protocol 2."""
    if not isinstance(text, str) or _text(encoding) not in ("latin1", "latin-1"):
        raise InputError(f"asks for the encoding {str(encoding)[:30]!r}; {OFFICIAL}")
    return text.encode("latin-1")


def _no_bytes() -> bytes:
    """Stands in for the class bytes, with which Python 3 writes an empty array for protocol 2."""
    return b""


def _ordered(items: Any = ()) -> dict[Any, Any]:
    """Stands in for collections.OrderedDict; Python 2 gives its items at once, Python 3 one by one."""
    for item in items:
        if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[0], str | bytes):
            raise InputError(f"has a dictionary with a key that is not text; {OFFICIAL}")
    return dict(items)


ADMITTED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): _ordered,
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _no_bytes,
    ("numpy", "ndarray"): _reconstructed,
    ("numpy", "dtype"): _Type,
    ("numpy.core.multiarray", "_reconstruct"): _reconstructed,
    ("numpy._core.multiarray", "_reconstruct"): _reconstructed,
    ("numpy.core.numeric", "_frombuffer"): _frombuffer,
    ("numpy._core.numeric", "_frombuffer"): _frombuffer,
}


def _text(value: Any) -> Any:
    return value.decode("latin-1") if isinstance(value, bytes) else value
