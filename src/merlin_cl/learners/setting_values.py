"""Settings from plain values, as JSON and TOML have them: names and types checked, errors in one sentence. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from merlin_cl.errors import MerlinError, UsageError, unknown

Settings = TypeVar("Settings")
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def from_record(kind: type[Settings], record: Mapping[str, Any], owner: str) -> Settings:
    """The settings that a record was made of; `owner` is whose they are, for messages."""
    hints = hints_of(kind)
    for name in record:
        if name not in hints:
            raise unknown(f"setting of {owner}", str(name), hints)
    return kind(**{name: fitting(name, value, hints[name]) for name, value in record.items()})


def from_own_record(kind: type[Settings], record: Mapping[str, Any], file: str) -> Settings:
    """The settings that `record()` wrote to a file of ours, value for value; only their names are checked."""
    for name in sorted(set(record) - set(hints_of(kind))):
        raise MerlinError(f"{file} has the setting {name!r}, which {kind.__name__} does not know.")
    return kind(**{name: _as_tuples(value) for name, value in record.items()})


def _as_tuples(value: Any) -> Any:
    """JSON turns tuples into lists; settings are hashable and have tuples only."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def hints_of(kind: type[Any]) -> dict[str, Any]:
    """The type of every setting."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def fitting(name: str, value: Any, hint: Any) -> Any:
    """The value as a setting of that type has it; refused where it is of another."""
    if get_origin(hint) in (Union, UnionType):
        return _fitting_one_of(name, value, get_args(hint))
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


def _fitting_one_of(name: str, value: Any, hints: tuple[Any, ...]) -> Any:
    """The value as the first type has it that takes it, None as it is where it may be left out."""
    if value is None and type(None) in hints:
        return None
    refusal: UsageError | None = None
    for hint in hints:
        if hint is not type(None):
            try:
                return fitting(name, value, hint)
            except UsageError as error:
                refusal = refusal or error
    raise refusal or UsageError(f"{name} is {value!r}; leave it out.")
