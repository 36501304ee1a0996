"""What a user gets who sets nothing."""

import inspect

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from merlin_cl.estimator import ContinualClassifier, MerlinClassifier


def test_replay_of_digits_two_at_a_time_is_worth_its_name():
    digits = load_digits()
    parts = train_test_split(digits.data / 16, digits.target, test_size=0.25, random_state=0, stratify=digits.target)
    x, x_test, y, y_test = parts
    model = ContinualClassifier("er")
    for first in range(0, 10, 2):
        now = (y == first) | (y == first + 1)
        model.partial_fit(x[now], y[now], task=first)
    assert model.end_task().score(x_test, y_test) >= 0.88


def test_what_both_estimators_have_is_written_twice_and_alike():
    """scikit-learn reads the parameters off each signature, so that neither can be left out."""
    any_method, merlin = (inspect.signature(kind).parameters for kind in (ContinualClassifier, MerlinClassifier))
    assert set(any_method) - set(merlin) == {"method", "budget"}
    assert set(merlin) - set(any_method) == set(MerlinClassifier._method_parameters)
    for name in set(any_method) & set(merlin):
        assert any_method[name] == merlin[name]
