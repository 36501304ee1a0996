"""What clients send, checked: JSON bodies to arrays, labels and names, or one sentence that says what is wrong."""

from __future__ import annotations

import difflib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from merlin_cl.errors import InputError, MerlinError
from merlin_cl.learners.divergence import LARGEST_INPUT
from merlin_cl.serving.journal import Array
from merlin_cl.serving.outlook import require_name, shown

if TYPE_CHECKING:
    from merlin_cl.serving.model import ServedModel

LONGEST_ID = 200
LONGEST_TEXT = 20_000
"""Characters: all texts of a request are kept as long as the longest of them."""


class MalformedError(MerlinError):
    """A body that is no JSON object."""


@dataclass(frozen=True)
class BodyForm:
    """What inputs look like."""

    shape: tuple[int, ...]
    bytes: bool
    columns: tuple[str, ...]
    text: bool = False

    @classmethod
    def of(cls, model: ServedModel) -> Self:
        """The form of a model's inputs, before features are computed of them."""
        estimator = model.snapshot.estimator
        if estimator._note is not None:
            raw = estimator._note.form
            return cls(raw.shape, raw.kind == "bytes", model.columns, raw.kind == "text")
        return cls(estimator._form.shape, estimator._form.bytes, model.columns)

    @property
    def kind(self) -> str:
        """In words."""
        if self.text:
            return "one text"
        numbers = "whole numbers from 0 to 255" if self.bytes else "numbers"
        return f"{math.prod(self.shape)} {numbers}" if len(self.shape) == 1 else f"{list(self.shape)} {numbers}"

    def inputs(self, value: Any, most: int) -> Array:
        """Inputs as JSON has them, [N, *shape]: nested lists, flat ones, or objects by column."""
        if not isinstance(value, list) or not value:
            raise InputError(f"inputs is {shown(value)}; give a list with an entry of {self.kind} for each input.")
        if len(value) > most:
            raise InputError(f"There are {len(value):,} inputs; send at most {most:,} in a request.")
        if isinstance(value[0], dict):
            value = [self._row(row, at) for at, row in enumerate(value)]
            value = [row[0] for row in value] if self.text else value
        if self.text:
            return self._texts(value)
        try:
            array = np.array(value)
        except (ValueError, OverflowError):
            array = np.array(None)  # rows of several lengths
        if array.dtype.kind not in "iuf":
            raise InputError(self._what_is_wrong(value))
        if array.shape[1:] not in (self.shape, (math.prod(self.shape),), self.shape[self.shape[0] == 1 :]):
            raise InputError(f"Inputs have shape {list(array.shape[1:])}; the model takes {self.kind} each.")
        return self._numbers(array).reshape(len(array), *self.shape)

    def _texts(self, value: list[Any]) -> Array:
        for at, text in enumerate(value):
            if not isinstance(text, str):
                raise InputError(f"Input {at} is {shown(text)}, which is no text; give a text for each input.")
            if len(text) > LONGEST_TEXT:
                raise InputError(
                    f"Input {at} has {len(text):,} characters; a text may have {LONGEST_TEXT:,}: send its beginning."
                )
        return np.array(value, dtype=np.str_)

    def _numbers(self, array: Array) -> Array:
        if self.bytes:
            if array.min() < 0 or array.max() > 255 or (array.dtype.kind == "f" and bool((array % 1).any())):
                wrong = array[(array < 0) | (array > 255) | (array % 1 != 0)].flat[0].item()
                raise InputError(f"Inputs hold {wrong:g}; the model takes whole numbers from 0 to 255.")
            return array.astype(np.uint8)
        if not bool((np.abs(array) <= LARGEST_INPUT).all()):
            raise InputError(
                f"Inputs hold a number that is larger than {LARGEST_INPUT:g}; scale inputs to about 1 first."
            )
        return array.astype(np.float64)

    def _row(self, row: Any, at: int) -> list[Any]:
        if not self.columns:
            instead = "a text for each input" if self.text else f"lists of {self.kind}"
            raise InputError(f"Input {at} is an object, but the model's columns have no names; give {instead}.")
        if not isinstance(row, dict):
            raise InputError(f"Input {at} is {shown(row)}; give objects or lists, not both.")
        for name in row:
            if name not in self.columns:
                raise InputError(f"Input {at} has a column {shown(name)}, which the model does not know.")
        for name in self.columns:
            if name not in row:
                raise InputError(
                    f"Input {at} has no column {shown(name)}; give all of the model's {len(self.columns)}."
                )
        return [row[name] for name in self.columns]

    def _what_is_wrong(self, value: list[Any]) -> str:
        for at, row in enumerate(value):
            if not isinstance(row, list):
                return f"Input {at} is {shown(row)}; give a list of {self.kind} for each input."
            for number in _leaves(row):
                if not isinstance(number, int | float) or isinstance(number, bool):
                    return f"Input {at} holds {shown(number)}, which is no number; give {self.kind}."
                if abs(number) > LARGEST_INPUT:
                    return f"Input {at} holds a number that is larger than {LARGEST_INPUT:g}; scale inputs to about 1 first."
        return f"Inputs have several shapes, or nested ones that differ; the model takes {self.kind} each."


def parsed(content: bytes, fields: dict[str, bool]) -> dict[str, Any]:
    """A body as an object with these fields, True for those that must be there."""
    try:
        body = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedError(f"The body is no JSON ({shown(why)}); send an object, as /docs shows.") from None
    if not isinstance(body, dict):
        raise MalformedError(f"The body is {shown(body)}; send an object, as /docs shows.")
    for name in body:
        if name not in fields:
            nearest = difflib.get_close_matches(name, fields, n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"known: {', '.join(fields)}."
            raise InputError(f"Unknown field {shown(name)}; {hint}")
    for name, needed in fields.items():
        if needed and name not in body:
            raise InputError(f"The field {name!r} is missing; send it, as /docs shows.")
    return body


def flag(body: dict[str, Any], name: str) -> bool:
    """A field that is true or false; false where it is not there."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{name} is {shown(value)}; give true or false.")
    return value


def coverage_of(body: dict[str, Any]) -> float | None:
    """What sets of labels are to cover, if they are asked for."""
    value = body.get("coverage")
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1:
        raise InputError(f"coverage is {shown(value)}; give a number between 0 and 1, such as 0.9.")
    return float(value)


def task_of(body: dict[str, Any]) -> str | int | None:
    """The name or number of a task, if there is one."""
    task = body.get("task")
    if isinstance(task, str):
        require_name(task, "task")
    elif task is not None and (not isinstance(task, int) or isinstance(task, bool) or not 0 <= task < 2**53):
        raise InputError(f"task is {shown(task)}; give a name or a number.")
    return task


def id_of(body: dict[str, Any], name: str = "id") -> str | None:
    """What a request calls itself, if it does."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > LONGEST_ID:
        raise InputError(f"{name} is {shown(value)}; give text of at most {LONGEST_ID} characters.")
    require_name(value, name)
    return value


def _leaves(value: Any) -> Any:
    for item in value:
        if isinstance(item, list):
            yield from _leaves(item)
        else:
            yield item


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
