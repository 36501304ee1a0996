"""`merlin predict` answers for images, folders, arrays and tables, from a file or from a run."""

import csv
import io
import json

import numpy as np
import pytest
from PIL import Image

from merlin_cl import ContinualClassifier
from merlin_cl.learners.saving.saved import SavedLearner
from merlin_cl.streams import stream_settings

RUN = ["run", "split-mnist", "--method", "slda", "--tasks", "2", "--images-per-task", "60"]


@pytest.fixture
def run_folder(merlin):
    code, out, err = merlin(*RUN, "--json")
    assert code == 0, err
    return json.loads(out)["folder"]


def rows_of(out):
    return list(csv.DictReader(io.StringIO(out)))


def digits():
    return stream_settings("split-mnist")(tasks=2, images_per_task=60).build(seed=0)[1].test()


def test_a_run_leaves_a_model_that_answers(merlin, run_folder, tmp_path):
    x, y = digits()
    np.savez(tmp_path / "some.npz", x=x[:50].numpy(), y=y[:50].numpy())
    code, out, err = merlin("predict", run_folder, "some.npz")
    assert (code, err) == (0, "")
    rows = rows_of(out)
    assert [row["input"] for row in rows] == [str(at) for at in range(50)]
    assert np.mean([int(row["label"]) == label for row, label in zip(rows, y[:50].tolist(), strict=True)]) > 0.8
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    model = ContinualClassifier.load(f"{run_folder}/model.safetensors")
    assert model.predict(x[:50]).tolist() == [int(row["label"]) for row in rows]
    model.partial_fit(x[:10], [7] * 10)
    assert 7 in model.classes_


def test_images_and_folders_of_them(merlin, run_folder, tmp_path):
    x, _ = digits()
    (tmp_path / "images" / "deeper").mkdir(parents=True)
    Image.fromarray(x[0, 0].numpy()).save(tmp_path / "images" / "a.png")
    Image.fromarray(x[1, 0].numpy()).resize((56, 56)).convert("RGB").save(tmp_path / "images" / "deeper" / "b.jpg")
    code, out, _ = merlin("predict", run_folder, "images", "--json", "--probabilities")
    answers = json.loads(out)
    assert code == 0
    assert [answer["input"] for answer in answers] == ["images/a.png", "images/deeper/b.jpg"]
    assert sum(answers[0]["probabilities"].values()) == pytest.approx(1)
    code, out, _ = merlin("predict", f"{run_folder}/model.safetensors", "images/a.png")
    assert rows_of(out)[0]["label"] == str(answers[0]["label"])


def test_a_known_task(merlin, run_folder, tmp_path):
    x, _ = digits()
    np.savez(tmp_path / "x.npz", x[:20].numpy())
    for name in ("0 and 1", "0"):
        code, out, err = merlin("predict", run_folder, "x.npz", "--task", name)
        assert code == 0, err
        assert {row["label"] for row in rows_of(out)} <= {"0", "1"}
    code, _, err = merlin("predict", run_folder, "x.npz", "--task", "0 und 1")
    assert code == 2
    assert "did you mean '0 and 1'" in err


def test_tables_are_standardised_as_they_were_when_learned(merlin, tmp_path):
    draws = np.random.default_rng(0)
    kinds = np.array(["ash", "elm", "fir", "oak"])
    labels = np.arange(200) % 4
    numbers = 1000 + 50 * draws.normal(0, 1, (4, 3))[labels] + draws.normal(0, 3, (200, 3))
    lines = [",".join(map(str, [*row, kinds[label]])) for row, label in zip(numbers, labels, strict=True)]
    (tmp_path / "trees.csv").write_text("\n".join(["a,b,c,label", *lines]))
    code, out, err = merlin("run", "./trees.csv", "--method", "slda", "--tasks", "2", "--json")
    assert code == 0, err
    folder = json.loads(out)["folder"]
    shuffled = ["\n".join(["c,a,extra,b", *(f"{row[2]},{row[0]},x,{row[1]}" for row in numbers)])]
    (tmp_path / "new.csv").write_text(shuffled[0])
    code, out, err = merlin("predict", folder, "new.csv")
    assert code == 0, err
    answers = [row["label"] for row in rows_of(out)]
    assert np.mean(np.array(answers) == kinds[labels]) > 0.9
    model = ContinualClassifier.load(f"{folder}/model.safetensors")
    pandas = pytest.importorskip("pandas")
    assert model.predict(pandas.DataFrame(numbers, columns=list("abc"))).tolist() == answers


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: None, "is not there"),
        (lambda path: path.mkdir(), "holds no images"),
        (lambda path: path.write_text("hello"), "is no image, folder of images"),
    ],
)
def test_inputs_that_are_none(merlin, run_folder, tmp_path, make, complaint):
    make(tmp_path / "input")
    code, out, err = merlin("predict", run_folder, "input")
    assert code != 0
    assert out == ""
    assert complaint in err
    assert err.count("\n") == 1


def test_inputs_that_do_not_fit(merlin, run_folder, tmp_path):
    np.savez(tmp_path / "small.npz", x=np.zeros((2, 5, 5), np.uint8))
    np.savez(tmp_path / "float.npz", x=np.full((2, 1, 28, 28), 0.5))
    np.savez(tmp_path / "rows.npz", x=np.zeros((2, 784)))
    (tmp_path / "damaged.npz").write_bytes((tmp_path / "rows.npz").read_bytes()[:100])
    (tmp_path / "damaged.png").write_bytes(b"\x89PNG")
    for name, complaint in {
        "small.npz": "shape [1, 5, 5]",
        "float.npz": "no bytes",
        "damaged.npz": "cannot be read",
        "damaged.png": "cannot be read as an image",
    }.items():
        code, _, err = merlin("predict", run_folder, name)
        assert code == 1, name
        assert complaint in err
    assert merlin("predict", run_folder, "rows.npz")[0] == 0  # images as rows


def test_models_that_are_none(merlin, run_folder, tmp_path):
    np.savez(tmp_path / "x.npz", np.zeros((1, 784)))
    (tmp_path / "empty").mkdir()
    (tmp_path / "noise").write_bytes(b"noise" * 20)
    for model, complaint in (
        ("empty", "neither a saved learner nor a run folder"),
        ("noise", "no learner that merlin-cl has saved"),
        ("nowhere", "nowhere is not there"),
    ):
        code, _, err = merlin("predict", model, "x.npz")
        assert code != 0
        assert complaint in err


def test_a_restart_takes_the_model_away_until_it_is_there_again(merlin, run_folder):
    before = SavedLearner.load(f"{run_folder}/model.safetensors").learner.state()
    code, _, _ = merlin(*RUN, "--restart")
    assert code == 0
    after = SavedLearner.load(f"{run_folder}/model.safetensors").learner.state()
    assert (before["method"]["means"] == after["method"]["means"]).all()


def test_an_explanation(merlin, run_folder, tmp_path):
    x, _ = digits()
    np.savez(tmp_path / "x.npz", x[:4].numpy())
    plain, explained = (rows_of(merlin("predict", run_folder, "x.npz", *more)[1]) for more in ((), ("--explain",)))
    assert [row["label"] for row in plain] == [row["label"] for row in explained]
    assert all(row["second"] != row["label"] and row["task"] in ("0 and 1", "2 and 3") for row in explained)
    code, out, _ = merlin("predict", run_folder, "x.npz", "--explain", "--json", "--nearest", "2")
    answers = json.loads(out)
    assert code == 0
    assert all(answer["second_probability"] <= answer["probability"] for answer in answers)
    assert all(len(answer["nearest"]) <= 2 for answer in answers)
    code, _, err = merlin("predict", run_folder, "x.npz", "--explain", "--nearest", "-1")
    assert code == 2
    assert "nearest is -1" in err
