"""A device that is not there is refused in one sentence; on one that is, every method allocates, learns, is kept and answers."""

import numpy as np
import pytest
import torch

from learners.elsewhere import elsewhere
from merlin_cl.checks import clouds
from merlin_cl.errors import UsageError
from merlin_cl.estimator.classifier import ContinualClassifier
from merlin_cl.learners.devices import usable_device
from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.statefile import decode, encode
from merlin_cl.streams.registry import stream_settings

pytestmark = pytest.mark.usefixtures("short_fits")

ABSENT = ["gpu", "", "cuda:99", "cpu:x", None, 3, *(["cuda"] if not torch.cuda.is_available() else [])]


@pytest.mark.parametrize("name", ABSENT)
def test_a_device_that_is_not_there_is_one_sentence(name):
    with pytest.raises(UsageError, match=r"^Device .* is not available here; use one of: cpu.*, or auto\.$"):
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


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")
SMALL = {
    "hidden_units": (8,),
    "exemplars": 12,
    "models": 2,
    "base_models": 2,
    "width": 12,
    "chunk": 20,
    "hidden": 8,
    "latent": 10,
}
SHORT = {
    "likelihood": "gaussian",
    "updates_per_batch": 1,
    "replay": 2,
    "rehearse": 2,
    "fine_tune_epochs": 1,
    "epochs": 1,
    "vae_epochs": 1,
}
OTHER = {
    "latent": 10,
    "embedding": 4,
    "generator_updates": 1,
    "shrinkage": 1e-2,
    "experts": 2,
    "expert_width": 6,
    "projection": 4,
}


def settings_of(method):
    """A method with little to do."""
    kind = method_settings(method)
    return kind(
        **{name: value for name, value in {**SMALL, **SHORT, **OTHER}.items() if name in kind.__dataclass_fields__}
    )


def taught(settings, device, moved=False):
    """Logits of a learner that was taught a task and some of another on a device, and, if it moved, kept in a file between."""
    learner = settings.build(clouds.STREAM, 1, str(device))
    steps = list(clouds.steps())[: clouds.STEPS + 2]
    for at, step in enumerate(steps):
        if moved and at == clouds.STEPS + 1:
            state, _ = decode(encode(learner.state(), {}))
            learner = settings.build(clouds.STREAM, 1, str(device))
            learner.restore(state)
        step(learner)
    learner.stored_bytes()
    return learner.logits(clouds.everything()[0])


@pytest.mark.parametrize("method", method_names())
def test_every_method_keeps_to_a_device_that_is_not_the_cpu(method):
    settings = settings_of(method)
    with elsewhere() as device:
        answers = taught(settings, device, moved=True)
        assert answers.device == device
        answers = answers.cpu()
    torch.testing.assert_close(answers, taught(settings, "cpu"), rtol=1e-2, atol=1e-2)


def test_the_device_of_the_tests_catches_what_a_gpu_would():
    with elsewhere() as device:
        there = torch.arange(4.0, device=device)
        assert (there + 1).cpu().tolist() == [1, 2, 3, 4]
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            there + torch.ones(4)
        with pytest.raises(TypeError, match="can't convert"):
            there.numpy()


@GPU
@pytest.mark.parametrize("method", method_names())
def test_every_method_learns_on_a_gpu(method):
    answers = taught(settings_of(method), "cuda", moved=True)
    assert answers.device.type == "cuda"
    assert (answers.argmax(dim=1).cpu() == taught(settings_of(method), "cpu").argmax(dim=1)).float().mean() > 0.8


def test_auto_is_a_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)
    assert usable_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert usable_device("auto") == torch.device("cuda")


def test_a_record_says_which_device_auto_was(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)
    config = RunConfig(stream_settings("split-mnist")(), settings_of("er"), device="auto")
    assert config.device == "cpu"
    rows = np.random.default_rng(0).normal(size=(8, 3))
    model = ContinualClassifier("slda", device="auto").partial_fit(rows, [0, 1] * 4, task=0)
    again = ContinualClassifier.load(model.save(tmp_path / "model"), device="auto")
    assert again.learner_.device == torch.device("cpu")
    assert again.device == "auto"
