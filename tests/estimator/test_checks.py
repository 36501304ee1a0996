"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from .small import merlin, rival

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.usefixtures("short_fits"),
]

IN_ORDER = "learning goes once through examples in an order; another one, as the check gives, leads elsewhere"
DOES_NOT_APPLY = {
    "check_sample_weight_equivalence_on_dense_data": IN_ORDER,
    "check_sample_weight_equivalence_on_sparse_data": IN_ORDER,
}
"""The checks that fail, and why."""
ALIKE = {"check_methods_sample_order_invariance", "check_methods_subset_invariance"}
"""Checks that answers for an example are the same in any company, which they compare more closely than single precision allows:
a sum depends on the order of its parts in the last digits."""


@pytest.fixture
def single_precision(monkeypatch):
    """scikit-learn compares numbers as closely as networks in single precision answer."""
    for name in ("assert_allclose", "assert_allclose_dense_sparse"):
        monkeypatch.setattr(estimator_checks, name, close_by(getattr(estimator_checks, name)))


def close_by(compare):
    return lambda actual, desired, **others: compare(actual, desired, **{**others, "atol": 1e-6})


@parametrize_with_checks(
    [
        merlin(models=2, base_models=2, exemplars=60, settings={"fine_tune_epochs": 10}),
        rival("er", updates_per_batch=5, learning_rate=1e-2),
    ],
    expected_failed_checks=lambda estimator: DOES_NOT_APPLY,
)
def test_scikit_learn_accepts_it(estimator, check, request):
    if check.func.__name__ in ALIKE:
        request.getfixturevalue("single_precision")
    check(estimator)
