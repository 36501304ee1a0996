"""Features are what their source computes, whatever it is, and what cannot be learned from is refused in a sentence."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from torch import nn

from features import own_features
from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.features import Features, feature_names
from merlin_cl.features.extractor import listening

X = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
TEXTS = ["where is my card", "my card is lost", "what is the rate", ""] * 5


def test_a_module_runs_as_in_use_and_keeps_its_mode():
    module = nn.Sequential(nn.Linear(6, 4), nn.Dropout(0.9), nn.BatchNorm1d(4))
    features = Features(module)(X)
    assert all(part.training for part in module.modules())
    torch.testing.assert_close(features, module.eval()(torch.tensor(X)).detach())


def test_a_module_sees_bytes_as_numbers_to_one_and_a_function_as_they_are():
    images = np.full((3, 8, 8, 3), 255, dtype=np.uint8)
    assert Features(nn.Flatten())(images).max() == 1
    assert Features(lambda x: x.reshape(len(x), -1))(images).max() == 255
    assert Features(nn.Flatten())(images).shape == (3, 192)


def test_a_transformer_gives_what_it_transforms_to():
    fitted = PCA(2).fit(X)
    np.testing.assert_allclose(Features(fitted)(X), fitted.transform(X), rtol=1e-4, atol=1e-5)
    words = HashingVectorizer(n_features=32)  # whose rows are sparse
    np.testing.assert_allclose(Features(words)(TEXTS), words.transform(TEXTS).toarray(), rtol=1e-5)


def test_an_encoder_of_sentences_is_taken_as_it_is():
    class Encoder:
        def encode(self, texts):
            return np.array([[len(text), 1.0] for text in texts])

    assert Features(Encoder())(TEXTS)[:2].tolist() == [[16, 1], [15, 1]]


def test_an_onnx_file_gives_what_the_module_in_it_does(tmp_path):
    helper = pytest.importorskip("onnx.helper", reason="the extra `onnx` is not installed")
    pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")
    module = nn.Sequential(nn.Linear(6, 3), nn.Tanh()).eval()
    numbers = {name: value.detach().numpy() for name, value in module[0].named_parameters()}
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "weight", "bias"], ["between"], transB=1),
            helper.make_node("Tanh", ["between"], ["features"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", 1, [None, 6])],
        [helper.make_tensor_value_info("features", 1, [None, 3])],
        [helper.make_tensor(name, 1, value.shape, value.ravel()) for name, value in numbers.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "net.onnx").write_bytes(made.SerializeToString())
    features = Features(str(tmp_path / "net.onnx"))
    torch.testing.assert_close(features(X[:7]), module(torch.tensor(X[:7])).detach(), rtol=1e-4, atol=1e-5)
    assert features.name == "net.onnx"
    with pytest.raises(InputError, match=r"cannot take inputs of shape \[2, 5\]"):
        features(X[:2, :5])
    with pytest.raises(InputError, match="takes numbers, and the inputs are texts"):
        features(TEXTS)
    (tmp_path / "net.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match=r"net\.onnx cannot be run as ONNX"):
        Features(tmp_path / "net.onnx")
    with pytest.raises(UsageError, match="is not there"):
        Features(tmp_path / "none.onnx")


def test_a_name_is_a_factory_or_one_of_ours():
    assert Features("features.own_features:halves")(X).shape == (20, 12)
    assert Features("hashing")(TEXTS).shape == (20, 1024)
    assert {"efficientnet-lite0", "minilm", "hashing"} <= set(feature_names())


def test_packages_add_names_by_entry_points(monkeypatch):
    from importlib.metadata import EntryPoint

    point = EntryPoint("lengths", "features.own_features:lengths", "merlin_cl.features")
    monkeypatch.setattr(
        "merlin_cl.features.names.entry_points",
        lambda group, name=None: [point] if name in (None, "lengths") else [],
    )
    assert "lengths" in feature_names()
    assert Features("lengths")(TEXTS)[0].tolist() == [16, 4]


def test_batches_leave_the_answer_as_it_is_and_are_told_of():
    told = []
    with listening(lambda done, total: told.append((done, total))):
        features = Features(lambda x: 3 * x, batch_size=7)(X)
    torch.testing.assert_close(features, torch.tensor(3 * X))
    assert told == [(7, 20), (14, 20), (20, 20)]


@pytest.mark.parametrize(
    ("source", "inputs", "sentence"),
    [
        (3, X, "features is 3; give a torch.nn.Module, a function"),
        ("efficientnet-lite", X, "Unknown features 'efficientnet-lite'; did you mean 'efficientnet-lite0'?"),
        ("no.such.module:factory", X, "cannot be imported"),
        ("features.own_features:needs_an_argument", X, "cannot be called without arguments"),
        (PCA, X, r"features is the class PCA; give an object of it, as in features=PCA\(\)"),
        (PCA(2), X, "has not been fitted; fit it to training data first"),
        (TfidfVectorizer(), TEXTS, "has not been fitted"),
        (nn.LSTM(6, 2), X, "LSTM gives a tuple; features are one tensor"),
        (lambda x: x[:3], X, r"of 20 inputs have shape \[3, 6\]; give a row for every input"),
        (lambda x: ["a"] * len(x), X, "is no array of numbers"),
        (lambda x: x / 0, np.zeros((2, 3)), "of input 0 are not finite"),
        (HashingVectorizer(), TEXTS, "have 1,048,576 numbers an input; 1 to 16,384 can be learned from"),
        (nn.Linear(6, 2), TEXTS, "The inputs are texts, and Linear is a module, which takes numbers"),
        ("hashing", "one text", "The inputs are one text, 'one text'; give a list of texts"),
        ("hashing", ["a", None], "Input 1 is None among texts"),
        (nn.Flatten(), [], "Inputs have shape"),
        (nn.Flatten(), [[1.0, np.nan]], "Input 0 contains NaN"),
    ],
)
def test_what_is_wrong_is_said(source, inputs, sentence):
    with np.errstate(all="ignore"), pytest.raises(MerlinError, match=sentence):
        Features(source)(inputs)


def test_features_that_change_their_number_are_refused():
    features = Features(lambda x: x[:, : len(x)])
    features(X[:4])
    with pytest.raises(UsageError, match="have 3 numbers and had 4 before"):
        features(X[:3])


def test_the_module_of_names_can_be_imported():
    assert own_features.lengths()(["a b"]).tolist() == [[3, 2]]
