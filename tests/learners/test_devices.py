"""A device that is not there is refused in one sentence, in Python as on the command line."""

import numpy as np
import pytest
import torch

from merlin_cl.errors import UsageError
from merlin_cl.estimator.classifier import ContinualClassifier
from merlin_cl.learners.devices import usable_device

ABSENT = ["gpu", "", "cuda:99", "cpu:x", None, 3, *(["cuda"] if not torch.cuda.is_available() else [])]


@pytest.mark.parametrize("name", ABSENT)
def test_a_device_that_is_not_there_is_one_sentence(name):
    with pytest.raises(UsageError, match=r"^Device .* is not available here; use one of: cpu.*\.$"):
        usable_device(name)


@pytest.mark.parametrize("name", ["cpu", torch.device("cpu")])
def test_one_that_is_there_is_taken(name):
    assert usable_device(name) == torch.device("cpu")


@pytest.mark.parametrize("name", ABSENT)
def test_an_estimator_says_the_same(name, tmp_path):
    rows = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(UsageError, match="is not available here"):
        ContinualClassifier("slda", device=name).partial_fit(rows, [0, 1] * 4, task=0)
    fitted = ContinualClassifier("slda").partial_fit(rows, [0, 1] * 4, task=0)
    fitted.save(tmp_path / "model")
    with pytest.raises(UsageError, match="is not available here"):
        ContinualClassifier.load(tmp_path / "model", device=name)
