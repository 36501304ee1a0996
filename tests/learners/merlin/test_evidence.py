import numpy as np
import pytest
import torch

from merlin_cl import ContinualClassifier
from merlin_cl.learners.merlin.evidence import WIDEST, TaskEvidence
from merlin_cl.protocol import TaskInfo

SMALL = {"models": 3, "base_models": 3, "updates_per_batch": 3, "hidden_units": (20,)}


def crowd(classes=12, columns=10, each=40, seed=0):
    """Classes that overlap, two a task."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(classes, columns)) * 1.3
    return np.concatenate([centre + random.normal(size=(each, columns)) for centre in centres]), np.repeat(
        np.arange(classes), each
    )


def taught(model, x, y, size=2):
    for label in range(0, y.max() + 1, size):
        at = np.random.default_rng(label).permutation(np.flatnonzero((y >= label) & (y < label + size)))
        model.partial_fit(x[at], y[at], task=label)
    return model.end_task()


def test_class_means_help_to_tell_tasks_apart():
    model = taught(ContinualClassifier("merlin", settings=SMALL), *crowd())
    x, y = crowd(seed=1)
    with_means = model.score(x, y)
    model.learner_.evidence = None
    assert with_means > model.score(x, y) + 0.03


def test_evidence_says_nothing_of_images_and_of_domains():
    images = np.zeros((10, 4, 4), np.uint8)
    model = ContinualClassifier("merlin", settings=SMALL).partial_fit(images, np.arange(10) % 2)
    assert model.learner_.evidence is None
    domains = ContinualClassifier("merlin", settings=SMALL, scenario="domain-incremental")
    assert domains.partial_fit(*crowd(2)).learner_.evidence is None


def test_evidence_grows_and_is_saved_with_the_learner(tmp_path):
    x, y = crowd(6)
    model = ContinualClassifier("merlin", settings=SMALL).partial_fit(x[y < 2], y[y < 2], task="a")
    copy = ContinualClassifier.load(model.save(tmp_path / "model"))
    for one in (model, copy):
        one.partial_fit(x[y >= 2], y[y >= 2], task="b").end_task()
    np.testing.assert_array_equal(model.predict_proba(x), copy.predict_proba(x))
    assert model.learner_.stored_bytes()["class_means"] > 0


@pytest.mark.parametrize("width", [5, WIDEST + 10])
def test_the_nearest_task_is_the_likelier_one_and_a_class_without_examples_is_out(width):
    evidence = TaskEvidence(3, width, torch.Generator().manual_seed(0), torch.device("cpu"))
    random = torch.Generator().manual_seed(1)
    near, far = (torch.randn(30, width, generator=random) + shift for shift in (0.0, 5.0))
    evidence.take(torch.cat([near, far]), torch.arange(2).repeat_interleave(30))
    tasks = [TaskInfo(0, (0,), "near"), TaskInfo(1, (1,), "far"), TaskInfo(2, (2,), "never met")]
    shares = evidence.weighed(torch.full((30, 3), 1 / 3), near, tasks)
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(30))
    assert (shares.argmax(dim=1) == 0).all()
    assert (shares[:, 2] < 1e-3).all()
