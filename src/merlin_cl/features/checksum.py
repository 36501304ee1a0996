"""A checksum of what computes features: the same for the same code and the same numbers, another where either differs.

It is what cached features are filed under, and what a saved learner keeps to recognise its features by.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

DEEPEST = 40
"""How deep objects inside objects are looked into."""


def checksum(source: Any) -> str:
    """Sixteen hexadecimal digits for a module, a function, a transformer, or an object made of such.

    Of a module its structure and its weights count, of a function its text and all that it refers to, of any other object its
    class and its attributes.

    >>> factor = 2
    >>> first, second = (lambda x: x * factor), (lambda x: x + factor)
    >>> checksum(first) == checksum(first), checksum(first) == checksum(second)
    (True, False)
    """
    digest = _Digest()
    digest.take(source, 0)
    return digest.finished()


def file_checksum(path: Path) -> str:
    """The same of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, _hash).hexdigest()


def _hash() -> Any:
    return hashlib.blake2b(digest_size=8)


class _Digest:
    """A hash that takes in objects."""

    def __init__(self) -> None:
        self._hash = _hash()
        self._met: dict[
            int, tuple[int, Any]
        ] = {}  # by identity: in which place it was met; kept alive, so that none is reused

    def finished(self) -> str:
        return str(self._hash.hexdigest())

    def take(self, value: Any, depth: int) -> None:
        """Take in a value of any kind; what was met before counts by where that was, so that circles end."""
        if isinstance(value, str | bytes | int | float | complex | bool | None):
            self._note(type(value).__name__, value if isinstance(value, bytes) else repr(value).encode())
            return
        if id(value) in self._met:
            self._note("met", str(self._met[id(value)][0]).encode())
            return
        self._met[id(value)] = (len(self._met), value)
        if depth > DEEPEST:
            self._note("deep", type(value).__qualname__.encode())
            return
        self._take_object(value, depth + 1)

    def _take_object(self, value: Any, depth: int) -> None:
        if isinstance(value, np.ndarray | np.generic):
            self._take_array(np.asarray(value), depth)
        elif isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            self._note(
                f"tensor {plain.dtype} {tuple(plain.shape)}", plain.flatten().view(torch.uint8).numpy().tobytes()
            )
        elif isinstance(value, nn.Module):
            self._note("module", f"{type(value).__module__}.{type(value).__qualname__} {value!r}".encode())
            self.take(dict(value.state_dict()), depth)
        elif isinstance(value, Mapping):
            self._note("mapping", str(len(value)).encode())
            for key in sorted(value, key=repr):
                self.take(key, depth)
                self.take(value[key], depth)
        elif isinstance(value, set | frozenset):
            self.take(sorted(value, key=repr), depth)
        elif isinstance(value, list | tuple):
            self._note("list", str(len(value)).encode())
            for item in value:
                self.take(item, depth)
        elif isinstance(value, types.ModuleType):
            self._note("import", f"{value.__name__} {getattr(value, '__version__', '')}".encode())
        elif isinstance(value, type):
            self._note("class", f"{value.__module__}.{value.__qualname__}".encode())
        elif isinstance(value, types.FunctionType):
            self._take_function(value, depth)
        elif isinstance(value, types.MethodType):
            self.take(value.__func__, depth)
            self.take(value.__self__, depth)
        elif isinstance(value, functools.partial):
            self.take([value.func, value.args, value.keywords], depth)
        else:
            kind = type(value)
            self._note("object", f"{kind.__module__}.{kind.__qualname__}".encode())
            self.take(_attributes(value), depth)

    def _take_array(self, array: np.ndarray[Any, Any], depth: int) -> None:
        if array.dtype.hasobject:
            self.take(array.tolist(), depth)
        else:
            self._note(f"array {array.dtype.str} {array.shape}", np.ascontiguousarray(array).tobytes())

    def _take_function(self, function: types.FunctionType, depth: int) -> None:
        """A function's text, its defaults, and what it refers to outside itself, as far as that is not a module's own."""
        self._note("function", _text(function))
        self.take([function.__defaults__, function.__kwdefaults__], depth)
        refers_to = inspect.getclosurevars(function)
        self.take({**refers_to.nonlocals, **refers_to.globals}, depth)

    def _note(self, kind: str, content: bytes) -> None:
        self._hash.update(f"{kind} {len(content)} ".encode())
        self._hash.update(content)


def _text(function: Callable[..., Any]) -> bytes:
    """The source of a function; where there is none to read, its byte code, which another Python may have otherwise."""
    code: types.CodeType = function.__code__
    try:
        source = inspect.getsource(function).encode()
        return source + _columns(code) if code.co_name == "<lambda>" else source
    except (OSError, TypeError):
        return code.co_code + repr([const for const in code.co_consts if not inspect.iscode(const)]).encode()


def _columns(code: types.CodeType) -> bytes:
    """Where in its lines a function stands: several without a name may share one."""
    ends = [(start, end) for _, _, start, end in code.co_positions() if start and end]
    return f" {min(start for start, _ in ends)} {max(end for _, end in ends)}".encode() if ends else b""


def _attributes(value: Any) -> dict[str, Any]:
    """What an object has, without what scikit-learn or torch keep for themselves alone."""
    try:
        attributes = dict(vars(value))
    except TypeError:  # no __dict__: what it shows of itself, unless that is where it is in memory
        shown = repr(value)
        return {} if " at 0x" in shown else {"shown": shown}
    return {name: item for name, item in attributes.items() if not name.startswith("__")}
