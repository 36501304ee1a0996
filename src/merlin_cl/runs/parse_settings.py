"""Settings from plain values, as a TOML file has them: names and types checked, errors in one sentence. Free of torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar, get_origin

from merlin_cl.errors import UsageError, unknown
from merlin_cl.learners.setting_values import fitting, hints_of
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams.settings import StreamSettings

Settings = TypeVar("Settings", StreamSettings, MethodSettings)


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with some of them set to plain values."""
    hints = hints_of(type(settings))
    return replace(settings, **{name: fitting(name, value, hints[name]) for name, value in values.items()})


def combinations(values: Mapping[str, Any], hints: Mapping[str, Any], owner: str) -> Iterator[dict[str, Any]]:
    """One dictionary of settings for each combination of the values listed; a setting that is itself a list is one in lists.

    >>> list(combinations({"models": [1, 30], "vote": "majority"}, {"models": int, "vote": str}, "merlin"))
    [{'models': 1, 'vote': 'majority'}, {'models': 30, 'vote': 'majority'}]
    >>> list(combinations({"hidden_units": [[100, 100], [50]]}, {"hidden_units": tuple[int, ...]}, "merlin"))
    [{'hidden_units': [100, 100]}, {'hidden_units': [50]}]
    """
    listed = []
    for name, value in values.items():
        if name not in hints:
            raise unknown(f"setting of {owner}", name, hints)
        several = isinstance(value, list) and (get_origin(hints[name]) is not tuple or _holds_lists(value))
        if several and not value:
            raise UsageError(f"{name} is an empty list; give at least one value.")
        listed.append(value if several else [value])
    for chosen in product(*listed):
        yield dict(zip(values, chosen, strict=True))


def _holds_lists(value: list[Any]) -> bool:
    return any(isinstance(item, list) for item in value)
