"""Estimators, streams, files and the shell learn from features as from anything else, and never find them by themselves."""

import csv
import io

import numpy as np
import pytest
from torch import nn

from features import own_features
from merlin_cl import ContinualClassifier, MerlinClassifier, Stream, load, run
from merlin_cl.cli import exit_code
from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.features import Features
from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.streams import stream_settings

WORDS = {
    "card": "card declined stolen pin plastic blocked cashpoint",
    "loan": "loan interest mortgage borrow instalment repay rate",
    "login": "password login locked account website forgotten code",
    "fees": "fee charged statement twice refund cost penny",
}


def tickets(*categories, count=40, seed=0):
    """Texts of a few words of their category among others, and the category of each."""
    draws = np.random.default_rng(seed)
    labels = [str(label) for label in draws.permutation(np.resize(np.array(categories), count))]
    common = ["please", "help", "me", "with", "this", "today", "i", "would", "like", "to", "know", "about", "the"]
    texts = [" ".join([*draws.choice(WORDS[label].split(), 3), *draws.choice(common, 3)]) for label in labels]
    return texts, labels


def taught(method="slda", features="hashing", **parameters):
    model = ContinualClassifier(method, features=features, **parameters)
    for task in (("card", "loan"), ("login", "fees")):
        model.partial_fit(*tickets(*task), task=task[0])
    return model.end_task()


def test_an_estimator_sorts_texts_and_meets_new_kinds_of_them():
    model = taught()
    assert model.classes_.tolist() == ["card", "fees", "loan", "login"]
    assert model.score(*tickets(*WORDS, count=80, seed=1)) > 0.9
    assert model.n_features_in_ == 1024
    assert model.predict(["my card was stolen"]).tolist() == ["card"]


def test_merlin_takes_features_too():
    model = MerlinClassifier(features=nn.Flatten(), hidden_units=(8,), base_models=1, models=1, exemplars=10)
    images = np.random.default_rng(0).integers(0, 256, (20, 4, 4), dtype=np.uint8)
    model.fit(images, [0, 1] * 10)
    assert model.learner_.stream.input_shape == (16,)
    assert model.predict(images).shape == (20,)


def test_a_saved_learner_says_what_it_needs_and_goes_on_with_it(tmp_path):
    model = taught()
    path = model.save(tmp_path / "tickets.safetensors")
    with pytest.raises(
        UsageError, match=r"learned from the features 'hashing' of texts.*load it with features='hashing'"
    ):
        load(path)
    again = load(path, features="hashing")
    texts = tickets(*WORDS, seed=2)[0]
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    again.partial_fit(["opening hours of the branch"] * 20, ["branch"] * 20)
    assert "branch" in again.classes_
    assert again.predict(["opening hours of the branch"]).tolist() == ["branch"]
    assert load(again.save(path), features="hashing").classes_.tolist() == again.classes_.tolist()


def test_other_features_are_told_by_their_checksum(tmp_path):
    path = taught().save(tmp_path / "tickets.safetensors")
    with pytest.raises(UsageError, match="give the very code and weights that it was learned with"):
        load(path, features=own_features.lengths())
    plain = ContinualClassifier("slda").fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "plain.safetensors")
    with pytest.raises(UsageError, match="was learned from inputs as they are; load it without features"):
        load(plain, features="hashing")


def test_a_file_imports_nothing_that_its_reader_does_not_name(tmp_path, monkeypatch):
    x = np.random.default_rng(0).normal(size=(10, 3))
    model = ContinualClassifier("slda", features="features.own_features:halves").fit(x, [0, 1] * 5)
    path = model.save(tmp_path / "model.safetensors")

    def imported(*arguments):
        raise AssertionError(f"{arguments} was looked up")

    monkeypatch.setattr("merlin_cl.features.names.made", imported)
    monkeypatch.setattr("merlin_cl.features.extractor.made", imported)
    with pytest.raises(UsageError, match=r"features='features\.own_features:halves'"):
        load(path)


def test_inputs_of_another_kind_than_those_learned_from_are_refused():
    with pytest.raises(InputError, match="Inputs are floating-point numbers; those learned from are texts"):
        taught().predict(np.zeros((2, 3)))
    with pytest.raises(InputError, match="Inputs are texts, which become numbers by features"):
        ContinualClassifier("slda").fit(["a", "b"], [0, 1])


def test_a_stream_of_texts_from_arrays_or_a_table(tmp_path):
    texts, labels = tickets(*WORDS, count=200)
    stream = Stream.from_arrays(texts, labels, tasks=2, features="hashing")
    assert stream.info.input_shape == (1024,)
    assert run(stream, "slda").final_accuracy > 90
    with (tmp_path / "tickets.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("message", "kind"), *zip(texts, labels, strict=True)])
    table = Stream.from_table(tmp_path / "tickets.csv", "kind", text="message", tasks=2, features="hashing")
    assert (table.columns, table.features.kind) == (("message",), "text")
    with pytest.raises(
        UsageError, match=r"holds texts, which become numbers by features; name some: features='minilm'"
    ):
        Stream.from_table(tmp_path / "tickets.csv", "kind", text="message", tasks=2)


def test_a_benchmark_in_features_has_the_same_tasks_in_the_same_order():
    settings = stream_settings("split-mnist")(tasks=2, images_per_task=30)
    plain, other = settings.build(0), settings.build(0).in_features(lambda x: x.reshape(len(x), -1), scale=False)
    for one, two in zip(plain, other, strict=True):
        assert one.info == two.info
        for (x, y), (features, labels) in zip(one.batches(7), two.batches(7), strict=True):
            assert y.equal(labels)
            assert x.flatten(1).float().equal(features)
    assert other.info.input_shape == (784,)
    assert other.fingerprint != plain.fingerprint
    with pytest.raises(UsageError, match="is in features"):
        other.in_features(nn.Flatten())


def test_a_benchmark_in_features_is_another_run_and_one_without_the_same_as_ever():
    kind = stream_settings("split-mnist")
    config = RunConfig(kind(), method_settings("slda")())
    assert "features" not in config.record()["stream"]
    inside = RunConfig(kind(features="features.own_features:halves"), method_settings("slda")())
    assert inside.name.startswith("split-mnist-in-features.own-features-halves-slda-s0-")
    assert RunConfig.from_record(inside.record()) == inside
    assert inside.stream.learner_info().input_shape == (2 * 784,)


def test_the_shell_learns_texts_and_answers_for_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = list(zip(*tickets(*WORDS, count=200), strict=True))
    with open("tickets.csv", "w", newline="") as file:
        csv.writer(file).writerows([("message", "kind"), *rows])
    learn = ["run", "tickets.csv", "--label", "kind", "--text", "message", "--tasks", "2", "--method", "slda"]
    assert exit_code([*learn]) == 2
    assert "holds texts, which become numbers by features; name some" in capsys.readouterr().err
    assert exit_code([*learn, "--features", "hashing"]) == 0
    capsys.readouterr()
    (folder,) = (path.parent for path in tmp_path.glob("runs/*/model.safetensors"))
    assert folder.name.startswith("tickets-in-hashing-slda-s0-")
    assert exit_code(["predict", str(folder), "tickets.csv"]) == 2
    assert "load it with features='hashing'" in capsys.readouterr().err
    taught = [
        "learn",
        str(folder),
        "tickets.csv",
        "--label",
        "kind",
        "--out",
        "more.safetensors",
        "--features",
        "hashing",
    ]
    assert exit_code(taught) == 0
    capsys.readouterr()
    assert exit_code(["predict", "more.safetensors", "tickets.csv", "--features", "hashing"]) == 0
    answers = [row["label"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert np.mean([answer == label for answer, (_, label) in zip(answers, rows, strict=True)]) > 0.9


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"text": "mesage"}, "Unknown column of .* 'mesage'; did you mean 'message'"),
        ({"text": "kind"}, "'kind' is to be learned from as well or has another use"),
        ({"columns": ("kind",)}, "a column of texts is learned from alone"),
        ({"features": "hashin"}, "Unknown features 'hashin'; did you mean 'hashing'"),
        ({"rows": [("", "card")]}, r"Column 'message' of .* holds '' in row 5, which is no text"),
    ],
)
def test_what_is_wrong_with_a_table_of_texts_is_said(tmp_path, change, sentence):
    rows = [("message", "kind"), *[("my card", "card"), ("my loan", "loan")] * 2, *change.pop("rows", [])]
    with (tmp_path / "tickets.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    options = {"text": "message", "tasks": 1, "features": "hashing", **change}
    with pytest.raises(MerlinError, match=sentence):
        Stream.from_table(tmp_path / "tickets.csv", "kind", **options)


def test_features_of_one_object_are_made_once():
    module = nn.Flatten()
    assert Features.kept(module) is Features.kept(module)
    assert Features.kept("hashing") is Features.of("hashing")
