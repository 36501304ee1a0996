"""What a user gives as X, checked and brought to the tensors that learners take."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d, validate_data
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.estimator.labels import of_one_kind
from merlin_cl.features.raw import texts_in
from merlin_cl.inputs.arrays import as_array, as_inputs
from merlin_cl.learners.divergence import require_computable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class InputForm:
    """What inputs look like, settled by the first ones: their shape as a network takes them, and bytes or numbers."""

    shape: tuple[int, ...]
    bytes: bool

    @classmethod
    def of(cls, x: Tensor) -> "InputForm":
        """That of x [N, *shape]."""
        return cls(tuple(x.shape[1:]), x.dtype == torch.uint8)

    def blank(self) -> Tensor:
        """One input of zeros."""
        return torch.zeros(1, *self.shape, dtype=torch.uint8 if self.bytes else torch.float32)

    def require(self, x: Tensor) -> None:
        """Refuse inputs of another form."""
        found = InputForm.of(x)
        if found.bytes != self.bytes:
            kinds = {True: "bytes (uint8, 0 to 255)", False: "floating-point numbers"}
            raise InputError(f"Inputs are {kinds[found.bytes]}; those learned from are {kinds[self.bytes]}.")
        if found.shape != self.shape:
            raise InputError(f"Inputs have shape {list(found.shape)}; those learned from have {list(self.shape)}.")


def checked_inputs(estimator: BaseEstimator, X: Any, first: bool) -> Tensor:
    """X [N, ...] as a tensor: bytes stay bytes, all else becomes float; images have their channels first.

    Takes arrays, data frames, tensors and nested lists. Names and number of features are kept on the estimator, if these
    are the first inputs, and compared with those kept otherwise. A tensor's columns have no names and are taken in order.
    """
    if texts_in(X) is not None:
        raise InputError(
            "Inputs are texts, which become numbers by features; name some: features='minilm', or 'hashing', which needs nothing "
            "else."
        )
    is_tensor = hasattr(X, "detach")
    X = as_array(X) if is_tensor or isinstance(X, list | tuple) else X
    if (
        is_tensor or getattr(X, "ndim", 2) > 2
    ):  # scikit-learn would take the height of images for their number of features
        array = check_array(X, dtype=None, allow_nd=True, estimator=estimator)
        if first:
            estimator.n_features_in_ = math.prod(array.shape[1:])
            vars(estimator).pop("feature_names_in_", None)
    else:
        array = validate_data(estimator, X, reset=first, dtype=None)
    if array.dtype.kind not in "biuf":
        array = array.astype(np.float64)
    x = as_inputs(array)
    require_computable(x)
    return x


def checked_labels(y: Any, count: int) -> Array:
    """y as an array of `count` labels."""
    y = column_or_1d(of_one_kind(as_array(y) if hasattr(y, "detach") else y), warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(y) != count:
        raise InputError(f"There are {count} inputs but {len(y)} labels; give one label for each.")
    return np.asarray(y)
