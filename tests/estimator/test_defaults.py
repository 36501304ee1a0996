"""What a user gets who sets nothing."""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from merlin_cl.estimator import ContinualClassifier


def test_replay_of_digits_two_at_a_time_is_worth_its_name():
    digits = load_digits()
    parts = train_test_split(digits.data / 16, digits.target, test_size=0.25, random_state=0, stratify=digits.target)
    x, x_test, y, y_test = parts
    model = ContinualClassifier("er")
    for first in range(0, 10, 2):
        now = (y == first) | (y == first + 1)
        model.partial_fit(x[now], y[now], task=first)
    assert model.end_task().score(x_test, y_test) >= 0.88
