"""Which output of a head stands for which of a user's labels: numbers, text, anything that NumPy sorts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from merlin_cl.errors import InputError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Labels:
    """A user's labels in the order in which they turned up, which is that of the head's outputs."""

    by_output: Array

    def __len__(self) -> int:
        return len(self.by_output)

    @property
    def classes(self) -> Array:
        """All labels, sorted, as scikit-learn has them."""
        return np.sort(self.by_output)

    @property
    def order(self) -> Array:
        """The output of each of `classes`."""
        return np.argsort(self.by_output, kind="stable")

    def with_new(self, y: Array) -> "Labels":
        """These and, after them, those of y that are new, sorted; y is all of one kind (`of_one_kind`)."""
        if len(self) == 0:
            return Labels(np.unique(y))
        try:
            if _is_text(y) != _is_text(self.by_output):
                raise TypeError
            joined = np.concatenate([self.by_output, np.setdiff1d(y, self.by_output)])
            np.sort(joined)
        except TypeError:
            raise InputError(
                f"Labels are of the type {_kind(y)}, those before of the type {_kind(self.by_output)}; give all the same type."
            ) from None
        return Labels(joined)

    def outputs(self, y: Array) -> Array:
        """The output of each label in y, int64; all of them must be known."""
        classes, order = self.classes, self.order
        return np.asarray(order[np.searchsorted(classes, y)], dtype=np.int64)


def of_one_kind(labels: Any) -> Array:
    """Labels as an array that NumPy can sort: all text or all numbers, which a list or an array of objects may mix.

    >>> of_one_kind(np.array([3, 1], dtype=object)), of_one_kind(["b", "a"])
    (array([3, 1]), array(['b', 'a'], dtype='<U1'))
    """
    if np.ma.is_masked(labels):
        labels = np.where(np.ma.getmaskarray(labels), None, labels.data)
    listed = isinstance(labels, list | tuple) and any(isinstance(label, str) for label in labels)
    objects: Array = np.array(labels, dtype=object) if listed else np.asarray(labels)
    if objects.dtype.kind == "S" and objects.size:
        raise InputError(f"Labels are bytes, such as {objects.flat[0].item()!r}; decode them to text, or give numbers.")
    if objects.dtype != object or objects.ndim == 0:
        return objects
    flat = objects.ravel().tolist()
    missing = [at for at, label in enumerate(flat) if _is_missing(label)]
    if missing:
        raise InputError(f"Label {missing[0]} is missing; give every example a label or leave it out.")
    texts = [isinstance(label, str) for label in flat]
    if any(texts) and not all(texts):
        text, other = flat[texts.index(True)], flat[texts.index(False)]
        raise InputError(f"Labels are of two kinds, {text!r} is text and {other!r} is not; give all the same type.")
    array = np.asarray(objects.tolist())
    return array if listed or array.dtype.kind in "biuf" else objects


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # of pandas' NA nobody can say whether it equals itself
        return True


def _is_text(values: Array) -> bool:
    return values.dtype.kind in "USO"


def _kind(values: Array) -> str:
    return type(values.flat[0]).__name__ if values.dtype == object and values.size else str(values.dtype)
