"""Pickles of arrays and plain containers, read without ever running what a pickle may hold.

An ordinary unpickler imports and calls whatever the file names. This one knows the few names with which numpy writes an array
and stands in for each with a class of its own that only keeps the numbers; any other name is refused.
"""

import pickle
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from merlin_cl.errors import InputError

NUMBERS = re.compile(r"[biuf][1248]")
"""Types of plain numbers: a kind and a width in bytes."""


def read_pickle(file: Path) -> Any:
    """The value in a pickle, written by Python 2 or 3: numbers, text, containers and numpy arrays of numbers (read-only)."""
    try:
        with file.open("rb") as content:
            return _plain(_Unpickler(content, encoding="bytes").load())
    except InputError as error:
        raise InputError(f"{file} {error}") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror}); check that it is a file you may read.") from error
    except Exception as error:  # a damaged pickle can fail in any way
        raise InputError(f"{file} is damaged or no pickle ({error}); fetch it again.") from error


class _Type:
    """Stands in for numpy.dtype."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code = _text(code)
        self.order = "="
        if not NUMBERS.fullmatch(self.code):
            raise InputError(
                f"holds an array of type {self.code!r} instead of numbers; put the official file in its place."
            )

    def __setstate__(self, state: Any) -> None:
        self.order = {"<": "<", ">": ">"}.get(_text(state[1]), "=")

    def numpy(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = np.dtype(self.order + self.code)
        return kind


class _Array:
    """Stands in for numpy.ndarray."""

    value: np.ndarray[Any, Any]

    def __init__(self, *_: Any) -> None:
        self.value = np.empty(0)

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, content = state
        if isinstance(content, str):  # bytes that Python 3 wrote for protocol 2
            content = content.encode("latin-1")
        self.value = _array(content, kind, shape, "F" if by_columns else "C")


def _frombuffer(content: Any, kind: Any, shape: Any, order: Any) -> _Array:
    """Stands in for the function with which newer pickles make an array."""
    made = _Array()
    made.value = _array(content, kind, shape, _text(order))
    return made


def _array(content: Any, kind: Any, shape: Any, order: Any) -> np.ndarray[Any, Any]:
    if not isinstance(kind, _Type) or not isinstance(content, bytes | bytearray):
        raise InputError("holds an array that is not made of plain numbers; put the official file in its place.")
    return np.frombuffer(content, dtype=kind.numpy()).reshape(shape, order="F" if order == "F" else "C")


def _encode(text: str, encoding: Any) -> bytes:
    """Stands in for _codecs.encode, with which Python 3 writes bytes for protocol 2."""
    if _text(encoding) not in ("latin1", "latin-1"):
        raise InputError(f"asks for the encoding {encoding!r}; put the official file in its place.")
    return text.encode("latin-1")


def _no_bytes() -> bytes:
    """Stands in for the class bytes, with which Python 3 writes an empty array for protocol 2."""
    return b""


ADMITTED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _no_bytes,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _frombuffer,
    ("numpy._core.numeric", "_frombuffer"): _frombuffer,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        admitted = ADMITTED.get((module, name))
        if admitted is None:
            raise InputError(
                f"wants to load {module}.{name}, which no data set needs and which could do harm; nothing of it was run. "
                "Put the official file in its place."
            )
        return admitted


def _plain(value: Any) -> Any:
    """The value with arrays in place of their stand-ins and text in place of Python 2's bytes, container by container."""
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return _text(value)


def _text(value: Any) -> Any:
    return value.decode("latin-1") if isinstance(value, bytes) else value
