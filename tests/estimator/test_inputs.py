"""Inputs as they are in life: gaps, texts, dates, sparse rows, unlike scales, weights; taken as one would expect, or refused."""

import numpy as np
import pytest
from scipy import sparse

from merlin_cl import ContinualClassifier
from merlin_cl.errors import InputError, UsageError

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")

pandas = pytest.importorskip("pandas")
COLOURS = np.array(["red", "green", "blue"])


def people(count=90, seed=0):
    """A table in which the colour tells the class, and the height hardly does; some heights are missing."""
    draws = np.random.default_rng(seed)
    y = draws.integers(0, 3, count)
    height = np.where(draws.random(count) < 0.2, np.nan, 170 + y + draws.normal(0, 5, count))
    return pandas.DataFrame({"colour": COLOURS[y], "height": height, "glasses": draws.random(count) < 0.5}), y


def learner(**parameters):
    settings = {"hidden_units": (16,), "learning_rate": 1e-2, "updates_per_batch": 5}
    return ContinualClassifier("er", settings=settings, missing="mean", **parameters)


def test_texts_are_categories_and_gaps_are_filled_also_from_a_file(tmp_path):
    x, y = people()
    model = learner().partial_fit(x, y, task="first")
    again = ContinualClassifier.load(model.save(tmp_path / "model"))
    asked, truth = people(seed=1)
    assert model.score(asked, truth) > 0.95
    for one in (model, again):
        one.partial_fit(*people(seed=2), task="second").end_task()
    np.testing.assert_array_equal(model.predict_proba(asked), again.predict_proba(asked))
    assert list(again.feature_names_in_) == ["colour", "height", "glasses"]


def test_a_text_that_comes_later_and_a_gap_are_taken(tmp_path):
    x, y = people()
    model = learner().partial_fit(x, y)
    strange = pandas.DataFrame({"colour": ["violet", None], "height": [171.0, None], "glasses": [True, False]})
    assert np.isfinite(model.predict_proba(strange)).all()
    assert model.learner_.stream.input_shape == (6,)  # three colours and another, height, glasses


@pytest.mark.parametrize("kind", [merlin, lambda **more: rival("er").set_params(**more)])
def test_numbers_that_are_missing(kind):
    x, y = clouds(0, 1)
    gaps = x.copy()
    gaps[::7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(gaps, y)
    model = kind(missing="mean").partial_fit(gaps, y)
    assert model.score(x, y) > 0.9
    hidden = np.ma.masked_array(np.where(np.isnan(gaps), 1e9, gaps), np.isnan(gaps))
    np.testing.assert_array_equal(kind(missing="mean").partial_fit(hidden, y).predict_proba(x), model.predict_proba(x))
    nothing = np.full((1, 6), np.nan)
    mean = np.nanmean(gaps, axis=0, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(nothing), model.predict_proba(mean), atol=1e-5)


def test_weights_count_examples():
    x, y = clouds(0, 1)
    twice, heavy = rival("er"), rival("er")
    twice.partial_fit(x.repeat(2, axis=0), y.repeat(2))
    heavy.partial_fit(x, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(twice.predict_proba(x), heavy.predict_proba(x))
    kept, light = rival("er"), rival("er")
    kept.partial_fit(x[::2], y[::2])
    for at in range(0, len(y), 20):  # half an example is carried over from call to call
        light.partial_fit(x[at : at + 20], y[at : at + 20], classes=[0, 1], sample_weight=[0.5] * 20)
    np.testing.assert_array_equal(kept.predict_proba(x), light.predict_proba(x))
    without, none = rival("er"), rival("er")
    without.partial_fit(x[10:], y[10:])
    none.partial_fit(x, y, sample_weight=np.arange(60) >= 10)
    np.testing.assert_array_equal(without.predict_proba(x), none.predict_proba(x))


def test_what_weights_leave_over_is_in_the_file(tmp_path):
    x, y = clouds(0, 1)
    models = [rival("er") for _ in range(2)]
    for at in range(0, 60, 3):
        for model in models:
            model.partial_fit(x[at : at + 3], y[at : at + 3], classes=[0, 1], sample_weight=[0.4, 0.3, 0.1])
        models[1] = ContinualClassifier.load(models[1].save(tmp_path / "model"))
    np.testing.assert_array_equal(*(model.predict_proba(x) for model in models))


def test_sparse_rows_are_the_rows_they_stand_for():
    x, y = clouds(0, 1)
    x[np.abs(x) < 1] = 0
    for method in ("er", "slda"):
        dense, thin = (rival(method).partial_fit(some, y) for some in (x, sparse.csr_matrix(x)))
        np.testing.assert_array_equal(dense.predict_proba(x), thin.predict_proba(sparse.coo_array(x)))


def test_pictures_of_any_whole_numbers_are_bytes():
    draws = np.random.default_rng(0)
    x, y = draws.integers(0, 256, (30, 8, 8)), np.arange(30) % 2
    models = [rival("slda").partial_fit(x.astype(kind), y) for kind in (np.uint8, np.int64, np.int16)]
    for model in models[1:]:
        np.testing.assert_array_equal(models[0].predict_proba(x), model.predict_proba(x.astype(np.uint8)))


def test_unlike_scales_are_told_of_where_nobody_sees_to_them():
    x, y = clouds(0, 1)
    x = x * np.array([1, 1, 1, 1, 1, 1000], dtype=np.float32)
    with pytest.warns(UserWarning, match=r"times as large as those of another; scale them"):
        rival("er").set_params(standardise=False).partial_fit(x, y)
    rival("er").partial_fit(x, y)


WHEN = pandas.Timestamp("2026-11-17")
WRONG = [
    (lambda m, x, y: m.partial_fit(np.full((60, 2), np.datetime64("2026-11-17")), y), InputError, "are dates or times"),
    (
        lambda m, x, y: m.partial_fit(pandas.DataFrame({"when": [WHEN] * 60}), y),
        InputError,
        "'when' holds dates or times",
    ),
    (
        lambda m, x, y: m.partial_fit(
            pandas.DataFrame({"id": [f"p{n}" for n in range(120)], "a": range(120)}), [*y, *y]
        ),
        InputError,
        "'id' of the table holds 120 different texts",
    ),
    (
        lambda m, x, y: m.partial_fit(pandas.DataFrame(x[:, :2], columns=["a", "a"]), y),
        InputError,
        "The table has two columns called 'a'",
    ),
    (
        lambda m, x, y: m.partial_fit(pandas.DataFrame({1: ["x", "z"] * 30, "1": range(60)}), y),
        InputError,
        "The table has two columns called '1'",
    ),
    (lambda m, x, y: m.partial_fit(np.ma.masked_less(x.astype(float), 0), y), InputError, "Inputs hold NaN"),
    (
        lambda m, x, y: m.partial_fit(x, np.ma.masked_equal(y, y[3])),
        InputError,
        "is missing; give every example a label",
    ),
    (lambda m, x, y: m.partial_fit(x.astype(float) * 1e300, y), InputError, "too large for single precision"),
    (lambda m, x, y: m.partial_fit(x, y, sample_weight=[1.0]), InputError, r"has shape \[1\] for 60 examples"),
    (lambda m, x, y: m.partial_fit(x, y, sample_weight=[-1.0] * 60), InputError, r"holds -1.0; give numbers from 0"),
    (lambda m, x, y: m.partial_fit(x, y, sample_weight=[np.nan] * 60), InputError, r"holds nan; give numbers from 0"),
    (lambda m, x, y: m.set_params(missing="median").fit(x, y), UsageError, "Unknown way with missing values 'median'"),
    (
        lambda m, x, y: m.partial_fit(sparse.csr_matrix((60, 10**8)), y),
        InputError,
        "A sparse matrix of 60 by 100,000,000 would take",
    ),
]


@pytest.mark.parametrize(("act", "error", "sentence"), WRONG)
def test_wrong_things(act, error, sentence):
    x, y = clouds(0, 1)
    with pytest.raises(error, match=sentence):
        act(rival("er"), x, y)
