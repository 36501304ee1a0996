"""A bound for the tensors that are made while a file is turned into a learner, whatever its settings ask for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

SMALL = 32 * 2**20
"""Bytes that a tensor may have, whatever the size of the file: reading and learning take up to five of them, less than 200 MB."""
FACTOR = 64
"""How many times the file's tensors together a tensor may take: numbers of half a bit become numbers of four bytes."""
WIDEST = 8
"""Bytes of the longest number."""
PRODUCTS = {"aten::mm": (0, 1), "aten::bmm": (0, 1), "aten::addmm": (1, 2), "aten::baddbmm": (1, 2)}
"""Matrix products, and which of their arguments are multiplied."""
JOINS = ("aten::cat", "aten::stack")


class TooLargeError(ValueError):
    """A tensor that a file of this size cannot be about; the text says how large in a few words."""


class BoundedTensors(TorchDispatchMode):
    """Refuses, before it is made, a tensor that takes more memory than a file with `content` bytes of tensors can be about."""

    def __init__(self, content: int) -> None:
        super().__init__()
        self.most = max(SMALL, FACTOR * content)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nobody compiles while a file is read; to see to it, torch would import its compiler, which takes a second."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if WIDEST * _bound(func, args, kwargs) > self.most:
            needed = _needed(func, args, kwargs)
            if needed > self.most:
                raise TooLargeError(f"a tensor of {needed:,} bytes, where so small a file can be about {self.most:,}")
        return func(*args, **kwargs)


def _bound(func: Any, args: Any, kwargs: dict[str, Any]) -> int:
    """A number that the numbers in what an operation makes do not exceed, from the shapes of what goes in alone."""
    if func.is_view or func._schema.is_mutable:
        return 0  # nothing is made
    tensors = list(_tensors((args, kwargs)))
    if torch.Tag.pointwise in func.tags:
        shapes = zip_longest(*(tensor.shape[::-1] for tensor in tensors), fillvalue=1)
        return math.prod(max(sizes) for sizes in shapes)
    name = func._schema.name
    if name in JOINS:
        return sum(tensor.numel() for tensor in tensors)
    if name in PRODUCTS:
        left, right = (args[at].shape for at in PRODUCTS[name])
        return int(math.prod(left[:-1]) * right[-1])
    return math.prod(max(1, tensor.numel()) for tensor in tensors) * math.prod(_sizes((args, kwargs)))


def _needed(func: Any, args: Any, kwargs: dict[str, Any]) -> int:
    """Bytes of the largest tensor that an operation gives, computed without numbers; 0 where only numbers would tell."""
    changes = {"device": torch.device("meta"), "generator": None, "pin_memory": None}
    names = {argument.name for argument in func._schema.arguments}
    try:
        given = func(*_on_meta(args), **_on_meta(kwargs | {name: changes[name] for name in changes.keys() & names}))
    except (NotImplementedError, RuntimeError, TypeError):
        return 0
    return max((one.numel() * one.element_size() for one in _tensors(given)), default=0)


def _on_meta(value: Any) -> Any:
    """Arguments with tensors of the same shapes that hold no numbers."""
    if isinstance(value, Tensor):
        return value.to("meta")
    if isinstance(value, dict):
        return {key: _on_meta(item) for key, item in value.items()}
    return [_on_meta(item) for item in value] if isinstance(value, list | tuple) else value


def _tensors(value: Any) -> Iterator[Tensor]:
    """All tensors at any depth."""
    if isinstance(value, Tensor):
        yield value
    for item in _inner(value):
        yield from _tensors(item)


def _sizes(value: Any) -> Iterator[int]:
    """All whole numbers at any depth that may be a size."""
    if isinstance(value, int):
        yield max(1, value)
    for item in _inner(value):
        yield from _sizes(item)


def _inner(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
