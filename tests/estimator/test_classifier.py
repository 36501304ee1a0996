"""What a user of the estimator relies on."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from merlin_cl import ContinualClassifier, MerlinClassifier
from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.registry import method_names
from patience import PATIENCE

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")


def learned(model, *groups, **options):
    for group in groups:
        model.partial_fit(*clouds(*group), **options)
        model.end_task()
    return model


def test_classes_and_tasks_may_come_at_any_time():
    """Six tasks where one was expected, a class in the middle of one, a class of an earlier task in a later one."""
    model = merlin(expected_tasks=1)
    for group in ((0, 1), (2, 3), (4, 5), (1, 6)):
        model.partial_fit(*clouds(*group))
        model.end_task()
    model.partial_fit(*clouds(7))
    model.partial_fit(*clouds(8))
    assert model.tasks_ == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(model.classes_, range(9))
    for state in (model, model.end_task()):
        assert state.score(*clouds(*range(9), count=90, seed=5)) > 0.7


def test_a_call_without_a_task_goes_on_with_the_current_one():
    x, y = clouds(0, 1)
    whole, parts, named = merlin(), merlin(), merlin()
    whole.partial_fit(x, y, task="first", classes=[0, 1])
    parts.partial_fit(x[:20], y[:20], classes=[0, 1]).partial_fit(x[20:], y[20:])
    named.partial_fit(x[:20], y[:20], task="first", classes=[0, 1]).partial_fit(x[20:], y[20:], task="first")
    assert (whole.tasks_, parts.tasks_, named.tasks_) == (["first"], [0], ["first"])
    answers = [model.end_task().predict_proba(x) for model in (whole, parts, named)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_another_task_ends_the_one_before():
    model = merlin().partial_fit(*clouds(0, 1), task="a").partial_fit(*clouds(2, 3), task="b")
    assert model.tasks_ == ["a", "b"]
    assert model.learner_.learning
    assert len(model.learner_.distribution.priors) == 1


@pytest.mark.parametrize("make", [merlin, lambda: rival("er", updates_per_batch=5)])
def test_a_task_comes_back(make, tmp_path):
    """Winter, summer, winter: what it brings the second time is of the same task, also in a file."""
    model = make()
    for task, classes in (("winter", (0, 1)), ("summer", (2, 3)), ("winter", (0, 1)), ("summer", (3, 4))):
        model.partial_fit(*clouds(*classes), task=task)
    model = ContinualClassifier.load(model.end_task().save(tmp_path / "model"))
    assert model.tasks_ == ["winter", "summer"]
    assert model.visits_ == ["winter", "summer", "winter", "summer"]
    assert {name: classes.tolist() for name, classes in model.task_classes_.items()} == {
        "winter": [0, 1],
        "summer": [2, 3, 4],
    }
    assert model.score(*clouds(0, 1, seed=5), task="winter") > 0.9
    answers = model.predict_proba(clouds(0, 1, 2, 3, 4)[0], task="summer")
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    assert (answers[:, :2] == 0).all()
    model.partial_fit(*clouds(5, count=20), task="winter")
    assert model.task_classes_["winter"].tolist() == [0, 1, 5]


def test_a_known_task_narrows_the_answer():
    model = learned(merlin(), (0, 1), (2, 3))
    x, y = clouds(2, 3, seed=7)
    assert set(model.predict(x, task=0)) <= {0, 1}
    assert model.score(x, y, task=1) > 0.9
    probabilities = model.predict_proba(x, task=1)
    np.testing.assert_allclose(probabilities[:, :2], 0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    with pytest.raises(UsageError, match="Unknown task '7'"):
        model.predict(x, task=7)


@pytest.mark.parametrize("labels", ["text", "objects", "numbers", "booleans"])
def test_labels_of_any_kind_come_back_as_they_are(labels):
    names = {
        "text": np.array(["zebra", "ant", "a longer name", "b"]),
        "objects": np.array(["zebra", "ant", "a longer name", "b"], dtype=object),
        "numbers": np.array([7, -3, 100, 5]),
        "booleans": np.array([True, False, True, False]),
    }[labels]
    model = merlin()
    for group in ((0, 1), (2, 3)):
        x, y = clouds(*group)
        model.partial_fit(x, names[y])
        if labels != "booleans":
            model.end_task()
    np.testing.assert_array_equal(model.classes_, np.unique(names))
    x, y = clouds(0, 1, 2, 3, seed=3)
    answers = model.predict(x)
    assert answers.dtype.kind == names.dtype.kind
    if labels != "booleans":
        assert (answers == names[y]).mean() > 0.9
    if labels != "booleans":
        with pytest.raises(InputError, match="same type"):
            model.partial_fit(x[:2], [1, 2] if labels != "numbers" else ["a", "b"])


def test_data_frames_are_taken_and_their_columns_remembered():
    pandas = pytest.importorskip("pandas")
    x, y = clouds(0, 1)
    frame = pandas.DataFrame(x, columns=list("abcdef"))
    model = merlin().fit(frame, pandas.Series(y).map({0: "no", 1: "yes"}))
    assert list(model.feature_names_in_) == list("abcdef")
    assert model.score(frame, np.where(y == 1, "yes", "no")) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("fedcba")])


@pytest.mark.parametrize(
    ("shape", "as_learned"),
    [((8, 8), (1, 8, 8)), ((1, 8, 8), (1, 8, 8)), ((3, 8, 8), (3, 8, 8)), ((8, 8, 3), (3, 8, 8)), ((64,), (64,))],
)
def test_images_of_every_shape(shape, as_learned):
    draws = np.random.default_rng(0)
    y = np.arange(60) % 2
    patterns = draws.integers(0, 150, (2, *shape))
    x = (draws.integers(0, 100, (60, *shape)) + patterns[y]).astype(np.uint8)
    model = rival("single", updates_per_batch=5, learning_rate=1e-2).fit(x, y)
    assert model.learner_.stream.input_shape == as_learned
    assert model.score(x, y) > 0.9
    with pytest.raises(InputError, match="those learned from are bytes"):
        model.predict(x / 255)


def test_tensors_are_taken():
    torch = pytest.importorskip("torch")
    x, y = clouds(0, 1)
    model = rival("single").fit(torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_array_equal(model.predict(torch.from_numpy(x)), model.predict(x))


def test_within_a_pipeline_the_scaler_scales():
    x, y = clouds(0, 1)
    scaler = StandardScaler().fit(1000 * x + 5000)
    pipeline = make_pipeline(scaler, merlin()).fit(1000 * x + 5000, y)
    assert pipeline.score(1000 * x + 5000, y) > 0.9
    pipeline[-1].partial_fit(scaler.transform(1000 * clouds(2)[0] + 5000), clouds(2)[1])
    np.testing.assert_array_equal(pipeline.classes_, [0, 1, 2])


def test_parameters_are_get_and_set_and_cloned():
    model = merlin(models=4)
    assert clone(model).get_params() == model.get_params()
    model.set_params(models=2, settings={"latent": 30})
    model.fit(*clouds(0, 1))
    assert (model.learner_.settings.models, model.learner_.settings.latent) == (2, 30)
    assert "method" not in model.get_params()
    assert ContinualClassifier("er").get_params()["method"] == "er"


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"method": "eer"}, "did you mean 'er'"),
        ({"method": "er", "settings": {"exemplar": 3}}, "did you mean 'exemplars'"),
        ({"scenario": "classes"}, "Unknown scenario"),
        ({"boundaries": 0}, "boundaries is 0"),
        ({"boundaries": "here"}, "boundaries is 'here'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"expected_tasks": 0}, "expected_tasks is 0"),
        ({"preset": "best"}, "Unknown preset"),
        ({"inference": "guess"}, "no inference mode"),
        ({"method": "er", "inference": "marginal"}, "answers in one way only"),
        ({"settings": {"hidden_units": [10**9]}}, "give fewer hidden units"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(parameters, complaint):
    x, y = clouds(0, 1)
    with pytest.raises(UsageError, match=complaint):
        ContinualClassifier(**parameters).fit(x, y).predict(x)


def test_bad_examples_are_refused_and_change_nothing():
    x, y = clouds(0, 1)
    model, silent = merlin().partial_fit(x, y), merlin().partial_fit(x, y)
    for bad_x, bad_y in ((x[:, :5], y), (x, y[:3]), (np.full_like(x, np.nan), y), (x, np.full(len(y), np.nan))):
        with pytest.raises(ValueError, match=r"."):
            model.partial_fit(bad_x, bad_y)
    for task in (("a", 1), 1.5, True):
        with pytest.raises(UsageError, match="give a name or a number"):
            model.partial_fit(x, y, task=task)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(model.end_task().predict_proba(x), silent.end_task().predict_proba(x))


def test_before_anything_is_learned_nothing_is_answered():
    x, _ = clouds(0)
    for asked in (merlin().predict, merlin().predict_proba, merlin().uncertainty):
        with pytest.raises(NotFittedError):
            asked(x)
    with pytest.raises(NotFittedError):
        merlin().end_task()


def test_announced_classes_have_columns_but_no_probability():
    model = merlin().partial_fit(*clouds(0, 1), classes=[0, 1, 5])
    probabilities = model.end_task().predict_proba(clouds(0, 1)[0])
    assert probabilities.shape == (60, 3)
    np.testing.assert_array_equal(probabilities[:, 2], 0)


def test_uncertainty_adds_up_and_needs_an_ensemble():
    model = learned(merlin(), (0, 1), (2, 3))
    x, _ = clouds(0, 1, 2, 3)
    for inference in ("marginal", "aggregate"):
        parts = model.set_params(inference=inference).uncertainty(x)
        np.testing.assert_allclose(parts.total, parts.aleatoric + parts.epistemic, atol=1e-6)
    probabilities = model.predict_proba(x)  # of one ensemble, not of one a task
    entropy = -(probabilities * np.log(np.maximum(probabilities, 1e-30))).sum(axis=1)
    np.testing.assert_allclose(parts.total, entropy, atol=1e-4)
    assert (model.uncertainty(x, task=1).total <= np.log(2) + 1e-5).all()
    with pytest.raises(UsageError, match="answers with one network"):
        rival("er").fit(*clouds(0, 1)).uncertainty(x)


def test_preparing_leaves_nothing_to_do_for_the_first_prediction():
    model = learned(merlin(), (0, 1), (2, 3)).prepare()
    sampled = []
    sample = model.learner_.distribution.sample
    model.learner_.distribution.sample = lambda *asked: sampled.append(asked) or sample(*asked)
    model.predict(clouds(0)[0])
    assert not sampled
    model.learner_.resample()
    model.predict(clouds(0)[0])
    assert sampled


@pytest.mark.parametrize("method", method_names())
def test_every_method_has_this_door(method):
    generative = {"likelihood": "gaussian"} if method in ("cn-dpm", "generative-replay") else {}
    model = rival(method, **generative)
    for group in ((0, 1), (2, 3)):
        model.partial_fit(*clouds(*group), classes=range(4))
        model.end_task()
    probabilities = model.predict_proba(clouds(0, 1, 2, 3)[0])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.predict(clouds(0)[0]), model.classes_[model.predict_proba(clouds(0)[0]).argmax(1)]
    )


def test_a_method_that_cannot_grow_says_what_to_do():
    model = rival("hnet").partial_fit(*clouds(0, 1))
    with pytest.raises(UsageError, match="`classes` of the first partial_fit"):
        model.partial_fit(*clouds(2))


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(5)), size=st.integers(1, 7))
def test_the_order_in_which_classes_turn_up_does_not_matter_to_labels(order, size):
    model = ContinualClassifier("slda", settings={"width": 30}, batch_size=size)
    for label in order:
        model.partial_fit(*clouds(label, count=15))
    np.testing.assert_array_equal(model.classes_, range(5))
    assert model.score(*clouds(*range(5), seed=1)) > 0.9


def test_importing_the_package_imports_neither_torch_nor_scikit_learn():
    code = "import sys, merlin_cl; assert not {'torch', 'sklearn', 'numpy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0
    assert MerlinClassifier.__module__ == "merlin_cl.estimator.merlin"
