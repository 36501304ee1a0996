"""Settings from plain values, as a TOML file has them: names and types checked, errors in one sentence. Free of torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import product
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from merlin_cl.errors import UsageError, unknown
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams.settings import StreamSettings

Settings = TypeVar("Settings", StreamSettings, MethodSettings)
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with some of them set to plain values."""
    hints = hints_of(type(settings))
    return replace(settings, **{name: fitting(name, value, hints[name]) for name, value in values.items()})


def hints_of(kind: type[StreamSettings] | type[MethodSettings]) -> dict[str, Any]:
    """The type of every setting."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


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


def fitting(name: str, value: Any, hint: Any) -> Any:
    """The value as a setting of that type has it; refused where it is of another."""
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise unknown(name, str(value), map(str, get_args(hint)))
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise UsageError(f"{name} is {value!r}; it must be a list.")
        return tuple(fitting(name, item, get_args(hint)[0]) for item in value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in KINDS and (not isinstance(value, hint) or (hint is not bool and isinstance(value, bool))):
        raise UsageError(f"{name} is {value!r}; it must be {KINDS[hint]}.")
    return value


def _holds_lists(value: list[Any]) -> bool:
    return any(isinstance(item, list) for item in value)
