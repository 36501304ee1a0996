"""Scenarios of the library `continuum` as streams."""

from collections.abc import Iterable
from typing import Any, Unpack

from merlin_cl.integrations import torch_data
from merlin_cl.streams.settings.user_data import OwnOptions
from merlin_cl.streams.stream import Stream


def to_stream(
    train: Iterable[Any],
    test: Iterable[Any] | None = None,
    *,
    seed: int = 0,
    name: str = "continuum",
    **options: Unpack[OwnOptions],
) -> Stream:
    """The tasks of a scenario, and of one made of the test part of the same data; transformations are applied.

    Without `test`, a part of every class is split off. Where tasks share some classes but not all, `scenario` says what that
    means (docs/own-data.md).
    """
    return torch_data.to_stream(list(train), None if test is None else list(test), seed=seed, name=name, **options)
