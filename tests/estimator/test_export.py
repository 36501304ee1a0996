"""Networks and files that leave the package answer as the estimator does."""

import json
from functools import partial

import numpy as np
import pytest
import torch

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.estimator import onnx
from merlin_cl.learners.registry import method_names
from merlin_cl.networks import choice
from merlin_cl.networks.resnet import ResNet

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")

GROUPS = ((3, 1), (0, 5))
X = clouds(0, 1, 3, 5, seed=4)[0]


@pytest.fixture(scope="module")
def model():
    estimator = merlin(models=4)
    for group in GROUPS:
        estimator.partial_fit(*clouds(*group), task=str(group))
    return estimator.end_task().prepare()


def test_sampled_models_are_plain_and_give_the_banks_outputs(model):
    modules = model.sample_models(4)
    bank = model.learner_.ensemble()
    logits = bank.logits(torch.from_numpy(X))
    outputs = [np.flatnonzero(model._labels.by_output == label)[0] for label in model.classes_]
    for member, module in enumerate(modules):
        assert {type(layer).__module__.partition(".")[0] for layer in module.modules()} == {"torch"}
        assert not module.training
        with torch.no_grad():
            assert torch.allclose(module(torch.from_numpy(X)), logits[member][:, outputs], atol=1e-5)


def test_together_they_answer_as_the_estimator_does(model):
    aggregate = model.set_params(inference="aggregate").predict_proba(X)
    model.set_params(inference=None)
    with torch.no_grad():
        mean = torch.stack([one(torch.from_numpy(X)).softmax(dim=1) for one in model.sample_models(4)]).mean(dim=0)
    np.testing.assert_allclose(mean.numpy(), aggregate, atol=1e-5)


def test_models_of_a_task_answer_its_classes_only(model):
    task = str(GROUPS[0])
    with torch.no_grad():
        logits = [one(torch.from_numpy(X)) for one in model.sample_models(2, task=task)]
    for answer in logits:
        assert set(model.classes_[answer.argmax(dim=1).numpy()]) <= {1, 3}
        assert (answer[:, [0, 3]] == -1e10).all()


def test_more_models_than_answer_can_be_sampled(model):
    assert len(model.sample_models(9)) == 9
    assert model.learner_.ensemble().members == 4
    weights = [one[1].weight for one in model.sample_models(9)]
    assert not torch.equal(weights[-1], weights[0])
    with pytest.raises(UsageError, match="n is 0"):
        model.sample_models(0)


def test_a_task_being_learned_has_its_base_models():
    model = merlin().partial_fit(*clouds(0, 1))
    assert len(model.sample_models(3, task=0)) == 3
    with pytest.raises(UsageError, match="3 models until it ends"):
        model.sample_models(4, task=0)


@pytest.mark.parametrize("method", [name for name in method_names() if name not in ("merlin", "lookup", "joint")])
def test_every_method_gives_out_its_network_or_says_that_it_has_none(method):
    generative = {"likelihood": "gaussian"} if method in ("cn-dpm", "generative-replay") else {}
    model = rival(method, **generative).partial_fit(*clouds(3, 1), classes=[3, 1, 0])
    if method in ("icarl", "scr", "slda", "hnet", "cn-dpm", "mose", "klda", "ranpac", "simplecil"):
        with pytest.raises(UsageError, match="does not answer by the logits of networks"):
            model.sample_models(1)
        return
    (module,) = model.sample_models(1)
    with torch.no_grad():
        answer = module(torch.from_numpy(X)).softmax(dim=1).numpy()
    if method not in ("gdumb-ensemble", "merlin-paper"):  # these answer with several
        np.testing.assert_allclose(answer, model.predict_proba(X), atol=1e-5)


def test_a_distilled_network_answers_as_the_whole(model):
    student = model.distil(steps=300)
    with torch.no_grad():
        answer = student(torch.from_numpy(X)).softmax(dim=1).numpy()
    assert (answer.argmax(axis=1) == model.predict_proba(X).argmax(axis=1)).mean() > 0.9
    assert np.abs(answer - model.predict_proba(X)).mean() < 0.1


def test_what_keeps_no_exemplars_is_distilled_on_inputs_given():
    model = rival("hnet").partial_fit(*clouds(0, 1), classes=[0, 1])
    with pytest.raises(UsageError, match="give inputs X"):
        model.distil()
    student = model.distil(clouds(0, 1)[0], steps=200)
    with torch.no_grad():
        answer = student(torch.from_numpy(clouds(0, 1)[0])).argmax(dim=1).numpy()
    assert (model.classes_[answer] == model.predict(clouds(0, 1)[0])).mean() > 0.9
    with pytest.raises(UsageError, match="steps is 0"):
        model.distil(clouds(0, 1)[0], steps=0)


@pytest.mark.parametrize("inference", ["marginal", "aggregate", "aware"])
def test_torch_export_agrees(model, inference, tmp_path):
    task = str(GROUPS[1]) if inference == "aware" else None
    model.set_params(inference=None if inference == "aware" else inference)
    path = model.export(tmp_path / "model.pt2", task=task)
    files = {"classes": ""}
    program = torch.export.load(path, extra_files=files).module()
    assert json.loads(files["classes"]) == model.classes_.tolist()
    for count in (1, 2, 37):
        answer = program(torch.from_numpy(X[:count]))
        np.testing.assert_allclose(answer.numpy(), model.predict_proba(X[:count], task), atol=1e-4)
    model.set_params(inference=None)


def test_a_module_can_be_exported_in_place_of_the_whole(model, tmp_path):
    module = model.sample_models(1)[0]
    program = torch.export.load(model.export(tmp_path / "one.pt2", module=module)).module()
    with torch.no_grad():
        wanted = module(torch.from_numpy(X)).softmax(dim=1)
    assert torch.allclose(program(torch.from_numpy(X)), wanted, atol=1e-5)


def image_model(monkeypatch):
    """A ResNet on bytes, of two stages: grouped convolutions and running statistics."""
    monkeypatch.setattr(choice, "ResNet", partial(ResNet, maps=(3, 6)))
    draws = np.random.default_rng(0)
    y = np.arange(60) % 3
    x = (draws.integers(0, 120, (60, 3, 16, 16)) + draws.integers(0, 130, (3, 3, 16, 16))[y]).astype(np.uint8)
    model = merlin(network="resnet", models=2, base_models=2, settings={"fine_tune_epochs": 2})
    return model.fit(x, np.array(["ash", "elm", "fir"])[y]), x


@pytest.mark.parametrize("kind", ["numbers", "images"])
def test_onnx_agrees(kind, model, tmp_path, monkeypatch):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    one, inputs = image_model(monkeypatch) if kind == "images" else (model, X)
    path = one.export(tmp_path / "model.onnx")
    session = runtime.InferenceSession(path)
    assert json.loads(session.get_modelmeta().custom_metadata_map["classes"]) == one.classes_.tolist()
    for count in (1, 2, 23):
        (answer,) = session.run(["probabilities"], {"x": inputs[:count]})
        np.testing.assert_allclose(answer, one.predict_proba(inputs[:count]), atol=1e-4)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.onnx"]


def test_other_names_and_missing_packages_are_refused_in_a_sentence(model, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"ends in \.pt2 or \.onnx"):
        model.export(tmp_path / "model.bin")
    with pytest.raises(MerlinError, match="choose another place"):
        model.export(tmp_path / "no" / "folder.pt2")

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(onnx.importlib, "import_module", absent)
    with pytest.raises(MerlinError, match=r"merlin-cl\[onnx\]"):
        model.export(tmp_path / "model.onnx")
