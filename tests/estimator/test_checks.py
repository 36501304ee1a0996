"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from .small import merlin, rival

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.usefixtures("short_fits"),
]

SINGLE_PRECISION = (
    "networks compute in single precision, where a sum depends on the order of its parts in the last digits"
)
IN_ORDER = "learning goes once through examples in an order; another one, as the check gives, leads elsewhere"
DOES_NOT_APPLY = {
    "check_methods_sample_order_invariance": SINGLE_PRECISION,
    "check_methods_subset_invariance": SINGLE_PRECISION,
    "check_sample_weight_equivalence_on_dense_data": IN_ORDER,
    "check_sample_weight_equivalence_on_sparse_data": IN_ORDER,
}
"""The checks that may fail, and why."""


@parametrize_with_checks(
    [
        merlin(models=2, base_models=2, exemplars=60, settings={"fine_tune_epochs": 10}),
        rival("er", updates_per_batch=5, learning_rate=1e-2),
    ],
    expected_failed_checks=lambda estimator: DOES_NOT_APPLY,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
