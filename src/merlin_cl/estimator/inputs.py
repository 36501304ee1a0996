"""What a user gives as X, checked and brought to the tensors that learners take."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d, validate_data
from torch import Tensor

from merlin_cl.errors import InputError, unknown
from merlin_cl.estimator.labels import of_one_kind
from merlin_cl.features.raw import texts_in
from merlin_cl.inputs.arrays import as_array, as_inputs
from merlin_cl.inputs.encoding import TableEncoding
from merlin_cl.inputs.tables import from_frame, require_distinct
from merlin_cl.learners.divergence import require_computable

Array = np.ndarray[Any, Any]

LARGEST_DENSE = 2**30
"""Bytes that a sparse matrix may take when its zeros are written out."""
HEAVIEST = 1000
"""The largest weight of an example."""
NO_DATES = "give numbers in their place, such as the hour, the day of the week or the days since a day."


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
        given = InputForm.of(x)
        if given.bytes != self.bytes:
            kinds = {True: "bytes (uint8, 0 to 255)", False: "floating-point numbers"}
            raise InputError(f"Inputs are {kinds[given.bytes]}; those learned from are {kinds[self.bytes]}.")
        if given.shape != self.shape:
            raise InputError(f"Inputs have shape {list(given.shape)}; those learned from have {list(self.shape)}.")


def checked_inputs(estimator: BaseEstimator, X: Any, first: bool) -> Tensor:
    """X [N, ...] as a tensor: bytes stay bytes, all else becomes float; images have their channels first.

    Takes arrays, sparse ones too, data frames, tensors and nested lists. Names and number of features are kept on the estimator,
    if these are the first inputs, and compared with those kept otherwise. A tensor's columns have no names: they are in order.
    Texts in the columns of a data frame become categories. Numbers that are missing are NaN or masked, if the estimator fills
    them in.
    """
    if texts_in(X) is not None:
        raise InputError(
            "Inputs are texts, which become numbers by features; name some: features='minilm', or 'hashing', which needs nothing "
            "else."
        )
    if estimator.missing not in ("refuse", "mean"):
        raise unknown("way with missing values", estimator.missing, ("refuse", "mean"))
    fill = estimator.missing == "mean"
    is_tensor = hasattr(X, "detach")
    X = as_array(X) if is_tensor or isinstance(X, list | tuple) else _unmasked(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        require_distinct(map(str, X.columns), "The table")
    _require_no_dates(X)
    finite: dict[str, Any] = {"ensure_all_finite": "allow-nan" if fill else True}
    encoding = _encoding(estimator, X, first)
    if encoding is not None:
        array = _encoded(estimator, X, encoding, first, fill)
    elif is_tensor or getattr(X, "ndim", 2) > 2:
        # scikit-learn would take the height of images for their number of features
        array = _numbers_there(check_array, X, dtype=None, allow_nd=True, estimator=estimator, **finite)
        if first:
            estimator.n_features_in_ = math.prod(array.shape[1:])
            vars(estimator).pop("feature_names_in_", None)
    else:
        array = _numbers_there(validate_data, estimator, X, reset=first, dtype=None, accept_sparse="csr", **finite)
    array = _dense(array) if issparse(array) else array
    if array.dtype.kind not in "biuf":
        array = array.astype(np.float64)
    x = as_inputs(_as_bytes(array))
    if not fill:
        require_computable(x)
    return x


def _unmasked(X: Any) -> Any:
    """A masked array with NaN where it is masked: its own numbers there mean nothing, and `np.asarray` would show them."""
    return X.astype(np.float64).filled(np.nan) if np.ma.is_masked(X) else X


def _numbers_there(check: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What scikit-learn's check gives, with a way out of our own where a number is missing."""
    try:
        return check(*arguments, **options)
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise InputError(
            "Inputs hold NaN, which is a missing number; fill it in, leave such rows out, or say missing='mean'."
        ) from None


def _encoding(estimator: BaseEstimator, X: Any, first: bool) -> TableEncoding | None:
    """How a table with texts becomes numbers: settled by the first one."""
    if not first:
        known: TableEncoding | None = estimator._encoding
        return known if known is not None and hasattr(X, "columns") else None
    mixed = hasattr(X, "columns") and any(not _is_numeric(kind) for kind in getattr(X, "dtypes", ()))
    estimator._encoding = TableEncoding.settled_by(from_frame(X)) if mixed else None
    return cast("TableEncoding | None", estimator._encoding)


def _encoded(estimator: BaseEstimator, X: Any, encoding: TableEncoding, first: bool, fill: bool) -> Array:
    """The rows of a data frame as numbers."""
    if not len(X):
        raise InputError("The table has no rows; give at least one.")
    if first:
        estimator.feature_names_in_ = np.array(encoding.columns, dtype=object)
        estimator.n_features_in_ = len(encoding.columns)
    return encoding.rows(from_frame(X), fill)


def _is_numeric(kind: Any) -> bool:
    """Whether a column's type is one of numbers; those of pandas' own say so themselves."""
    return getattr(kind, "kind", "O") in "biuf"


def _require_no_dates(X: Any) -> None:
    for kind, name in zip(getattr(X, "dtypes", ()), getattr(X, "columns", ()), strict=False):
        if getattr(kind, "kind", "") in "mM":
            raise InputError(f"Column {name!r} holds dates or times; {NO_DATES}")
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        raise InputError(f"Inputs are dates or times ({X.dtype}); {NO_DATES}")


def _dense(array: Any) -> Array:
    """A sparse matrix with its zeros written out, if that is no more than memory bears."""
    needed = 8 * math.prod(array.shape)
    if needed > LARGEST_DENSE:
        raise InputError(
            f"A sparse matrix of {array.shape[0]:,} by {array.shape[1]:,} would take {needed:,} bytes where at most "
            f"{LARGEST_DENSE:,} are allowed; give fewer rows at once, or fewer columns."
        )
    return np.asarray(array.toarray())


def _as_bytes(array: Array) -> Array:
    """Images of whole numbers from 0 to 255 as the bytes they are, whatever type they come in."""
    if array.ndim < 3 or array.dtype.kind not in "iu" or array.dtype == np.uint8:
        return array
    if array.size and (array.min() < 0 or array.max() > 255):
        return array
    return array.astype(np.uint8)


def checked_weights(sample_weight: Any, count: int) -> Array | None:
    """What each of `count` examples counts for, float64 [count]; None where all count as one."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")  # as scikit-learn says it
    if weights.shape != (count,):
        raise InputError(f"sample_weight has shape {list(weights.shape)} for {count} examples; give one for each.")
    strange = weights[~((weights >= 0) & (weights <= HEAVIEST))]
    if len(strange):
        raise InputError(
            f"sample_weight holds {strange[0]}; give numbers from 0 to {HEAVIEST}: 2 counts as two examples."
        )
    if not weights.any():
        raise InputError(
            "sample_weight is zero for every example; leave such examples out, or give one of them a weight."
        )
    return weights


def checked_labels(y: Any, count: int) -> Array:
    """y as an array of `count` labels."""
    y = column_or_1d(of_one_kind(as_array(y) if hasattr(y, "detach") else y), warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(y) != count:
        raise InputError(f"There are {count} inputs but {len(y)} labels; give one label for each.")
    return np.asarray(y)
