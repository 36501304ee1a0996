"""Answers that one may refuse: sets that cover as promised, answers below a probability, inputs of no class seen."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from merlin_cl import ContinualClassifier, MerlinClassifier
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.estimator import persistence, refusing
from merlin_cl.estimator.calibration import EVERY, FIRST, HeldExamples, quantile

from .small import CENTRES, clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")


def blurred(*classes, count, seed):
    """Clouds that overlap, so that nobody can be right always."""
    draws = np.random.default_rng(seed)
    y = draws.permutation(np.resize(np.array(classes), count))
    return (CENTRES[y] + draws.normal(0, 2.5, (count, 6))).astype(np.float32), y


def learned(method="slda", calibration=300, **settings):
    """A model of four overlapping clouds, in two tasks."""
    model = ContinualClassifier(method, settings=settings, calibration=calibration, batch_size=100)
    for task, classes in {"first": (0, 1), "second": (2, 3)}.items():
        model.partial_fit(*blurred(*classes, count=1500, seed=classes[0]), task=task)
    return model.end_task()


@pytest.fixture(scope="module")
def model():
    return learned()


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_sets_cover_what_was_asked(model, coverage):
    x, y = blurred(0, 1, 2, 3, count=4000, seed=7)
    sets = model.predict_set(x, coverage)
    assert sets.shape == (4000, 4)
    assert sets.dtype == bool
    deviation = (coverage * (1 - coverage) / 300) ** 0.5  # that of which 300 examples were held back
    assert abs(sets[np.arange(4000), y].mean() - coverage) < 3 * deviation + 0.01


def test_sets_cover_whoever_learns_and_forgets():
    """A method that forgets its first task knows that it does: its sets grow."""
    model = learned("single", hidden_units=(16,), updates_per_batch=5)
    x, y = blurred(0, 1, 2, 3, count=4000, seed=7)
    assert model.score(x, y) < 0.6
    sets = model.predict_set(x)
    assert abs(sets[np.arange(4000), y].mean() - 0.9) < 0.05
    assert sets.sum(axis=1).mean() > 2


def test_sets_grow_with_coverage_and_hold_the_answer_first(model):
    x, _ = blurred(0, 1, 2, 3, count=200, seed=8)
    before = np.zeros((200, 4), dtype=bool)
    for coverage in (0.1, 0.5, 0.9, 0.99):
        sets = model.predict_set(x, coverage)
        assert (sets >= before).all()
        before = sets
    some = sets.any(axis=1)
    answers = model.predict(x)
    assert sets[np.arange(200), answers][some].all()


def test_a_known_task_has_sets_of_its_own(model):
    x, y = blurred(2, 3, count=3000, seed=9)
    sets = model.predict_set(x, 0.9, task="second")
    assert not sets[:, :2].any()
    assert abs(sets[np.arange(3000), y].mean() - 0.9) < 0.06


def test_without_enough_examples_every_label_seen_is_in_the_set():
    model = ContinualClassifier("slda", calibration=100)
    x, y = clouds(0, 1)
    model.partial_fit(x[:20], y[:20], classes=[0, 1, 2])
    assert len(model._calibration) < 9
    assert model.predict_set(x).tolist() == [[True, True, False]] * 60  # nobody has met a 2
    assert (model.novelty(x) >= 0).all()


@pytest.mark.parametrize("size", [1000, 7])
def test_an_example_is_held_back_or_learned(monkeypatch, size):
    seen = []
    model = rival("er")
    model.set_params(calibration=size)
    x, y = clouds(0, 1, count=400)
    model.partial_fit(x[:1], y[:1])
    whole = type(model.learner_)._observe
    monkeypatch.setattr(
        type(model.learner_), "_observe", lambda self, x, y: (seen.extend(x.tolist()), whole(self, x, y))
    )
    model.partial_fit(x[1:], y[1:])
    held = model._calibration.x.tolist()
    assert len(held) == min(size, (400 - 2 * FIRST) // EVERY)
    assert sorted(seen + held) == sorted(x[1:].tolist())


def passed_through(labels, size, seed=0):
    """What is held back of tasks of these labels, and the numbers of the examples that were learned; inputs count through."""
    held, learned, passed = HeldExamples.empty(size, torch.zeros(1, 2)), [], 0
    for task, some in enumerate(labels):
        y = torch.tensor(some, dtype=torch.int64)
        x = torch.arange(passed, passed + len(y)).float().unsqueeze(1).expand(-1, 2)
        passed += len(y)
        for part_x, part_y in zip(x.split(10), y.split(10), strict=True):
            held, to_learn, their_labels = held.passed(part_x, part_y, task, seed)
            assert len(to_learn) == len(their_labels)
            assert len(held) <= size
            learned += to_learn[:, 0].int().tolist()
    return held, learned


streams = st.lists(st.lists(st.integers(0, 3), max_size=60), min_size=1, max_size=6)


@given(labels=streams, size=st.integers(1, 12))
def test_what_is_held_back_is_bounded_and_balanced(labels, size):
    held, _ = passed_through(labels, size)
    passed = sum(map(len, labels))
    counts = {}
    for group in zip(held.tasks.tolist(), held.y.tolist(), strict=True):
        counts[group] = counts.get(group, 0) + 1
    assert sum(count for *_, count in held.seen) == passed
    candidates = {(task, label): (count - FIRST) // EVERY for task, label, count in held.seen if count > FIRST}
    for group, some in candidates.items():  # one that is smaller than another has all that it was offered, or nearly
        assert counts.get(group, 0) >= min(some, max(counts.values(), default=0) - 1)
    assert float(held.weights().sum()) <= passed + 1e-9
    again = HeldExamples.empty(size, torch.zeros(1, 2)).restored(held.state(), 4, len(labels))
    assert again.state()["y"] == held.state()["y"]
    assert all(count > FIRST for _, _, count in [row for row in held.seen if (row[0], row[1]) in counts])


@given(labels=streams, size=st.integers(1, 12))
def test_nothing_is_learned_twice_or_both_learned_and_held_back(labels, size):
    held, learned = passed_through(labels, size)
    assert len(set(learned)) == len(learned)
    assert not set(learned) & set(held.x[:, 0].int().tolist())
    if len(labels) == 1:  # while the task goes on, nothing is lost
        assert len(learned) + len(held) == len(labels[0])


@given(rhythm=st.lists(st.integers(0, 5), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_no_rhythm_of_labels_keeps_a_class_away(rhythm, seed):
    held, _ = passed_through([rhythm * (FIRST + EVERY)], size=10_000, seed=seed)
    assert set(held.y.tolist()) == set(rhythm)


def test_examples_are_held_back_from_all_of_a_stream():
    """As often from its beginning as from its end, over seeds."""
    places = torch.cat([passed_through([[0] * 600], size=10, seed=seed)[0].x[:, 0] for seed in range(100)])
    assert abs(float(places.mean()) - 300) < 4 * 600 / (12 * len(places)) ** 0.5 + FIRST


def test_classes_that_came_more_often_count_for_more():
    held = HeldExamples.empty(20, torch.zeros(1, 2))
    y = torch.tensor(([0] * 9 + [1]) * 100)
    held, *_ = held.passed(torch.zeros(1000, 2), y.roll(3), 0, seed=0)
    weights, zeros = held.weights(), held.y == 0
    if zeros.any() and (~zeros).any():
        assert float(weights[zeros].sum() / weights.sum()) == pytest.approx(0.9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0.05, 0.99))
def test_the_quantile_is_conformal(scores, coverage):
    """As many of the scores and a new one, whichever it may be, are at most the quantile."""
    values = torch.tensor(scores, dtype=torch.float64)
    threshold = quantile(values, torch.ones(len(values)), coverage)
    below = sum(score <= threshold for score in scores)
    assert threshold == float("inf") or below >= coverage * (len(scores) + 1) - 1e-6


@given(st.floats(0, 200), st.floats(0, 200))
def test_answers_that_are_all_sure_are_told_apart_all_the_same(one, other):
    """Probabilities that are 1 to the last digit would make sets of everything or nothing."""
    probabilities = torch.tensor([[one, 0.0, 0.0], [other, 0.0, 0.0]], dtype=torch.float64).softmax(dim=1)
    doubts = refusing._doubt(probabilities)[:, 0].tolist()
    assert (doubts[0] < doubts[1]) == (one > other) or abs(one - other) < 1e-9
    np.testing.assert_allclose(refusing._doubt(probabilities), 1 - probabilities, atol=1e-12)


def test_refused_answers_are_none(model):
    x, _ = blurred(0, 1, 2, 3, count=300, seed=3)
    probabilities, answers = model.predict_proba(x).max(axis=1), model.predict(x)
    given_ = model.predict(x, reject=0.8)
    assert [answer is None for answer in given_] == (probabilities < 0.8).tolist()
    kept = probabilities >= 0.8
    assert given_[kept].tolist() == answers[kept].tolist()
    assert model.predict(x, reject=0).tolist() == answers.tolist()
    assert model.predict(x).dtype == answers.dtype


@pytest.mark.parametrize("method", ["slda", "er"])
def test_classes_not_seen_yet_are_strange(method):
    model = ContinualClassifier(
        method, settings={} if method == "slda" else {"hidden_units": (16,)}, calibration=200, batch_size=50
    )
    model.partial_fit(*clouds(0, 1, 2, count=900))
    known, strange = (clouds(*classes, count=300, seed=4)[0] for classes in ((0, 1, 2), (5, 6, 7)))
    scores = np.concatenate([model.novelty(known), model.novelty(strange)])
    assert roc_auc_score([0] * 300 + [1] * 300, scores) > 0.95
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert (model.novelty(known) > 0.95).mean() < 0.12  # 0.05 are to be
    far = model.novelty(np.full((2, 6), [[1e3], [2e3]], dtype=np.float32))
    assert far[0] < far[1] <= 1


def test_all_of_it_survives_saving(tmp_path):
    model = learned()
    x, _ = blurred(0, 1, 2, 3, count=100, seed=5)
    again = ContinualClassifier.load(model.save(tmp_path / "model"))
    assert again.calibration == 300
    for one, other in ((model, again), (model.partial_fit(x[:50], [0] * 50), again.partial_fit(x[:50], [0] * 50))):
        np.testing.assert_array_equal(one.predict_set(x), other.predict_set(x))
        np.testing.assert_array_equal(one.novelty(x), other.novelty(x))


def test_merlin_has_it_too():
    model = merlin(calibration=50)
    assert isinstance(model, MerlinClassifier)
    x, y = clouds(0, 1, count=200)
    sets = model.partial_fit(x, y).predict_set(x, 0.8)
    assert sets[np.arange(200), y].mean() > 0.6


def test_forged_examples_are_refused(tmp_path):
    model = learned(calibration=20)
    saved = persistence.to_saved(model, model.get_params(deep=False))
    for name, value in {
        "y": [9] * 20, "tasks": [5] * 20, "x": torch.zeros(20, 7), "order": torch.zeros(19, dtype=torch.float64),
        "seen": [[0, 0, -1]],
    }.items():  # fmt: skip
        forged = {**saved.extra_state["calibration"], name: value}
        path = type(saved)(
            saved.learner,
            saved.classes,
            saved.tasks,
            saved.inputs,
            saved.extra,
            {**saved.extra_state, "calibration": forged},
        ).save(tmp_path / name)
        with pytest.raises(MerlinError, match="is damaged"):
            ContinualClassifier.load(path)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda model, x: model.predict_set(x, 1), "coverage is 1; give a number between 0 and 1, such as 0.9."),
        (lambda model, x: model.predict_set(x, "high"), "coverage is 'high'; give a number between 0 and 1"),
        (lambda model, x: model.predict(x, reject=1.5), "reject is 1.5; give a probability from 0 to 1"),
        (lambda model, x: model.predict(x, reject=True), "reject is True; give a probability from 0 to 1"),
        (lambda model, x: model.predict_set(x, task="none"), "Unknown task 'none'"),
    ],
)
def test_wrong_things_are_refused(model, call, sentence):
    x, _ = clouds(0, 1)
    with pytest.raises(UsageError, match=sentence.replace(".", r"\.")):
        call(model, x)


def test_without_held_back_examples_it_says_what_to_do():
    x, y = clouds(0, 1)
    model = rival("er").partial_fit(x, y)
    for call in (model.predict_set, model.novelty):
        with pytest.raises(UsageError, match="make the estimator with calibration=500"):
            call(x)
    for wrong in (-1, 2.5, True):
        with pytest.raises(UsageError, match="calibration is"):
            ContinualClassifier("er", calibration=wrong).fit(x, y)
