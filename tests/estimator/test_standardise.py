"""Columns as users have them: of unlike units, known from the first examples on."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_wine

from merlin_cl import ContinualClassifier
from merlin_cl.errors import UsageError
from merlin_cl.estimator.persistence import restored
from merlin_cl.learners.saving.saved import SavedLearner


def wine():
    x, y = load_wine(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y)) < len(y) // 2
    return (x[chosen], y[chosen]), (x[~chosen], y[~chosen])


def taught(model, x, y, groups):
    for group in groups:
        at = np.isin(y, group)
        model.partial_fit(x[at], y[at], task=str(group))
    return model.end_task()


@pytest.mark.parametrize(("method", "least"), [("er", 0.85), ("slda", 0.9), ("merlin", 0.9)])
def test_a_table_of_unlike_units_is_learned_as_it_comes(method, least):
    learned, test = wine()
    settings = {"models": 5, "base_models": 3} if method == "merlin" else None
    model = taught(ContinualClassifier(method, settings=settings), *learned, [[0], [1], [2]])
    assert model.score(*test) > least


def test_er_learns_digits_two_at_a_time_with_its_defaults():
    x, y = load_digits(return_X_y=True)
    model = taught(ContinualClassifier("er"), x[::2], y[::2], [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
    assert model.score(x[1::2], y[1::2]) >= 0.88


def test_columns_of_like_units_stay_as_they_are_unless_asked_for():
    x, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    plain, scaled = (ContinualClassifier("slda", standardise=choice).partial_fit(x, y) for choice in (None, True))
    assert plain._standardisation is None
    assert scaled._standardisation is not None


def test_scales_go_on_being_found_after_saving(tmp_path):
    (x, y), (unseen, _) = wine()
    model = ContinualClassifier("slda").partial_fit(x[:6], y[:6])
    copy = ContinualClassifier.load(model.save(tmp_path / "few"))
    for one in (model, copy):
        one.partial_fit(x[6:], y[6:])
    np.testing.assert_array_equal(model.predict_proba(unseen), copy.predict_proba(unseen))
    assert model._moments is None


def test_a_file_whose_scales_rest_on_nonsense_is_refused(tmp_path):
    (x, y), _ = wine()
    saved = SavedLearner.load(ContinualClassifier("slda").partial_fit(x[:6], y[:6]).save(tmp_path / "few"))
    saved.extra_state["moments"]["count"] = 0
    with pytest.raises(Exception, match="rest on no number"):
        restored(saved, "few")


def test_models_given_out_take_columns_as_they_come():
    (x, y), (unseen, _) = wine()
    model = ContinualClassifier("er").partial_fit(x, y).end_task()
    module = model.sample_models(1)[0]
    answers = module(torch.from_numpy(unseen).float()).softmax(dim=1).detach()
    np.testing.assert_allclose(answers, model.predict_proba(unseen), atol=1e-4)


def test_bytes_have_a_scale_of_their_own():
    with pytest.raises(UsageError, match="inputs are bytes"):
        ContinualClassifier("slda", standardise=True).partial_fit(np.zeros((4, 3), np.uint8), [0, 1, 0, 1])
