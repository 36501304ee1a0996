"""Inputs as a user has them, before they become features: texts, images as bytes, or numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.features.cache import Raw
from merlin_cl.inputs.arrays import as_array, as_inputs

Kind = Literal["text", "bytes", "numbers"]
WORDS: dict[Kind, str] = {
    "text": "texts",
    "bytes": "bytes (uint8, 0 to 255)",
    "numbers": "floating-point numbers",
}


@dataclass(frozen=True)
class RawForm:
    """What inputs look like: their kind, and the shape of one as a network takes it; a text has none."""

    kind: Kind
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, inputs: Raw) -> Self:
        """The form of some inputs."""
        if not isinstance(inputs, Tensor):
            return cls("text")
        return cls("bytes" if inputs.dtype == torch.uint8 else "numbers", tuple(inputs.shape[1:]))

    def blank(self) -> Raw:
        """One input that says nothing."""
        if self.kind == "text":
            return ["a"]
        return torch.zeros(1, *self.shape, dtype=torch.uint8 if self.kind == "bytes" else torch.float32)

    def require(self, inputs: Raw) -> None:
        """Refuse inputs of another form."""
        other = RawForm.of(inputs)
        if other.kind != self.kind:
            raise InputError(f"Inputs are {WORDS[other.kind]}; those learned from are {WORDS[self.kind]}.")
        if other.shape != self.shape:
            raise InputError(f"Inputs have shape {list(other.shape)}; those learned from have {list(self.shape)}.")


def form_of_shape(shape: tuple[int, ...]) -> RawForm:
    """The form that inputs of a shape usually have: what has none are texts, and images are bytes."""
    if not shape:
        return RawForm("text")
    return RawForm("bytes" if len(shape) == 3 else "numbers", shape)


def as_raw(X: Any) -> Raw:
    """Texts as a list, all else as a tensor [N, ...]: bytes stay bytes, images have their channels first.

    >>> as_raw(["a card", "a loan"]), as_raw(np.zeros((2, 8, 8, 3), dtype=np.uint8)).shape
    (['a card', 'a loan'], torch.Size([2, 3, 8, 8]))
    """
    if isinstance(X, str | bytes):
        raise InputError(f"The inputs are one text, {X[:40]!r}; give a list of texts, [text] if there is one.")
    texts = texts_in(X)
    if texts is not None:
        return texts
    array = as_array(X)
    if array.ndim < 2:
        raise InputError(f"Inputs have shape {list(array.shape)}; give [inputs, ...] of numbers, or a list of texts.")
    if not len(array):
        raise InputError("There are no inputs; give at least one.")
    x = as_inputs(array)
    if x.is_floating_point() and not bool(torch.isfinite(x).all()):
        at = int((~torch.isfinite(x.flatten(1))).any(dim=1).nonzero()[0])
        raise InputError(f"Input {at} contains NaN or an infinite value; fill such values in or leave the input out.")
    return x


def texts_in(X: Any) -> list[str] | None:
    """The texts in X; None where X holds none."""
    values = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else X
    if hasattr(values, "dtype"):
        if getattr(values.dtype, "kind", "") not in ("U", "O"):
            return None
        values = np.asarray(values, dtype=object)
        if values.ndim == 2 and values.shape[1] == 1 and hasattr(X, "columns"):
            values = values[:, 0]  # a table with one column
        if values.ndim != 1:
            return None
        values = values.tolist()
    if not isinstance(values, Sequence) or not any(isinstance(value, str) for value in values):
        return None
    for at, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(
                f"Input {at} is {value!r} among texts; give a text for every example, '' where there is none."
            )
    return list(values)
