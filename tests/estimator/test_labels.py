"""Labels of any kind NumPy sorts; of two kinds, or of none, a sentence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.errors import InputError, UsageError
from merlin_cl.estimator import ContinualClassifier, MerlinClassifier
from merlin_cl.estimator.labels import of_one_kind

pytestmark = pytest.mark.usefixtures("short_fits")

X = np.random.default_rng(0).normal(size=(6, 3))
ABC = ["a", "b"] * 3


def single(**parameters):
    return ContinualClassifier("single", **parameters)


@pytest.mark.parametrize("mixed", [["a", 1, "b", 2, "a", 1], np.array([1, "a", 2, "b", 1, "a"], dtype=object)])
@pytest.mark.parametrize(
    "call",
    [
        lambda y: single().fit(X, y),
        lambda y: single().partial_fit(X, y),
        lambda y: single().partial_fit(X, ABC, classes=y),
        lambda y: single().partial_fit(X, ABC).partial_fit(X, y),
        lambda y: single().partial_fit(X, ABC).score(X, y),
    ],
    ids=["fit", "first", "announced", "later", "score"],
)
def test_text_and_numbers_together_are_refused_in_a_sentence(call, mixed):
    with pytest.raises(
        InputError, match=r"^Labels are of two kinds, 'a' is text and 1 is not; give all the same type\.$"
    ):
        call(mixed)


texts = st.text(st.characters(exclude_characters="\0"), max_size=3)  # NumPy drops a zero at the end
kinds = st.one_of(st.lists(st.integers(-5, 5), min_size=1), st.lists(texts, min_size=1))


@settings(max_examples=60, deadline=None)
@given(kinds, st.sampled_from([list, tuple, np.array, lambda labels: np.array(labels, dtype=object)]))
def test_labels_of_one_kind_stay_what_they_are(labels, held):
    assert of_one_kind(held(labels)).tolist() == labels
    np.sort(of_one_kind(held(labels)))


def test_numbers_in_an_array_of_objects_are_numbers():
    model = single().partial_fit(X, np.array([3, 1] * 3, dtype=object)).partial_fit(X, [1, 3] * 3)
    assert model.classes_.tolist() == [1, 3]
    assert model.predict(X).dtype.kind == "i"


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([b"a", b"b"] * 3, r"^Labels are bytes, such as b'a'; decode them to text, or give numbers\.$"),
        (["a", None] * 3, r"^Label 1 is missing; "),
        (np.array(["a", np.nan] * 3, dtype=object), r"^Label 1 is missing; "),
    ],
)
def test_bytes_and_missing_labels_are_refused_in_a_sentence(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        single().partial_fit(X, labels)


def test_a_label_that_pandas_holds_to_be_missing_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"^Label 1 is missing; "):
        single().partial_fit(X, pandas.Series(["a", pandas.NA] * 3))


@pytest.mark.parametrize("kind", [lambda **p: ContinualClassifier("icarl", settings=p), MerlinClassifier])
def test_a_setting_of_the_wrong_type_is_refused_in_a_sentence(kind):
    with pytest.raises(UsageError, match=r"^exemplars is '3'; it must be a (whole )?number\.$"):
        kind(exemplars="3").partial_fit(X, [0, 1] * 3)


@pytest.mark.parametrize("name", ["batch_size", "expected_tasks"])
@pytest.mark.parametrize("value", ["3", 2.5, None, True])
def test_a_number_of_something_is_a_whole_number(name, value):
    with pytest.raises(UsageError, match=rf"^{name} is {value!r}; it must be a whole number of at least 1\.$"):
        single(**{name: value}).partial_fit(X, ABC)


def test_names_that_are_not_text_are_refused_in_a_sentence():
    for parameters, sentence in (
        ({"settings": 3}, "settings is 3; give names and values"),
        ({"settings": {3: 3}}, "Unknown setting of single"),
        ({"preset": 3}, "Unknown preset of single"),
    ):
        with pytest.raises(UsageError, match=sentence):
            single(**parameters).partial_fit(X, ABC)


def test_icarl_takes_one_more_example_when_its_memory_is_full():
    draws = np.random.default_rng(0)
    X, y = draws.normal(size=(26, 4)), np.arange(26) % 2
    model = ContinualClassifier("icarl", settings={"exemplars": 20}).partial_fit(X[:25], y[:25]).end_task()
    model.partial_fit(X[25:], y[25:])
    assert np.isfinite(model.predict_proba(X)).all()


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 4))
def test_merlin_s_probabilities_are_finite_whatever_labels_a_task_has(labels, size):
    """Also of one class, of one example, of classes that come back."""
    draws = np.random.default_rng(0)
    model = MerlinClassifier(models=1, base_models=1, hidden_units=(4,), settings={"fine_tune_epochs": 1})
    for start in range(0, len(labels), size):
        y = labels[start : start + size]
        model.partial_fit(draws.normal(size=(len(y), 2)), y).end_task()
        probabilities = model.predict_proba(draws.normal(size=(3, 2)))
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
