import numpy as np
import pytest
import torch

from merlin_cl import ContinualClassifier
from merlin_cl.learners.merlin.evidence import OF_CLASSES, WIDEST, ClassEvidence
from merlin_cl.protocol import TaskInfo
from merlin_cl.tensors import MASKED

SMALL = {"models": 3, "base_models": 3, "updates_per_batch": 3, "hidden_units": (20,)}


def crowd(classes=12, columns=10, each=40, seed=0, apart=1.3):
    """Classes that overlap."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(classes, columns)) * apart
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


def test_class_means_help_to_tell_the_classes_of_a_task_apart():
    """As of embeddings: many columns, a few examples of each class."""
    model = taught(ContinualClassifier("merlin", settings=SMALL), *crowd(columns=30, each=8, apart=0.6), size=6)
    x, y = crowd(columns=30, each=100, seed=1, apart=0.6)
    told = [(x[y // 6 == task], y[y // 6 == task], 6 * task) for task in range(2)]
    with_means = [model.score(*part[:2], task=part[2]) for part in told]
    model.learner_.evidence = None
    without = [model.score(*part[:2], task=part[2]) for part in told]
    assert all(more > less + 0.1 for more, less in zip(with_means, without, strict=True))


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
    evidence = ClassEvidence(3, width, torch.Generator().manual_seed(0), torch.device("cpu"))
    random = torch.Generator().manual_seed(1)
    near, far = (torch.randn(30, width, generator=random) + shift for shift in (0.0, 5.0))
    evidence.take(torch.cat([near, far]), torch.arange(2).repeat_interleave(30))
    tasks = [TaskInfo(0, (0,), "near"), TaskInfo(1, (1,), "far"), TaskInfo(2, (2,), "never met")]
    shares = evidence.of_tasks(torch.full((30, 3), 1 / 3), evidence.scores(near), tasks)
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(30))
    assert (shares.argmax(dim=1) == 0).all()
    assert (shares[:, 2] < 1e-3).all()


def test_of_classes_is_the_normalised_geometric_mean_among_those_allowed():
    answer = torch.tensor([[0.8, 0.2, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]).log().clamp(min=MASKED)
    means = torch.tensor([[0.1, 0.4, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25]], dtype=torch.float64).log()
    told = ClassEvidence.of_classes(answer, means).exp()
    expected = torch.tensor([0.8, 0.2]) ** (1 - OF_CLASSES) * torch.tensor([0.1, 0.4]) ** OF_CLASSES
    torch.testing.assert_close(told[0], torch.cat([expected / expected.sum(), torch.zeros(2)]))
    torch.testing.assert_close(told[1], torch.tensor([0.5, 0.5, 0.0, 0.0]))


def test_what_no_class_mean_knows_is_finite():
    answer = torch.tensor([[0.9, 0.1]]).log()
    told = ClassEvidence.of_classes(answer, torch.full((1, 2), -1e30, dtype=torch.float64)).exp()
    assert told.isfinite().all()
    torch.testing.assert_close(told.sum(dim=1), torch.ones(1))
