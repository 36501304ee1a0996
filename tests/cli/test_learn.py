"""`merlin learn` goes on as `partial_fit` would, replaces the file whole or not at all, and says what is wrong in a sentence."""

import fcntl
import json

import numpy as np
import pytest
from PIL import Image

from estimator.small import clouds, rival
from merlin_cl import ContinualClassifier, load
from merlin_cl.statefile import held

NAMES = np.array(["ash", "elm", "fir", "oak", "yew"])


@pytest.fixture
def model(tmp_path):
    x, y = clouds(0, 1)
    return rival("er", updates_per_batch=5).partial_fit(x, NAMES[y], task="winter").save(tmp_path / "model")


def arrays(path, *classes, labels=NAMES, **more):
    x, y = clouds(*classes, seed=3)
    np.savez(path, x=x, y=labels[y], **more)
    return x, labels[y]


def test_it_learns_as_partial_fit_does(merlin, model, tmp_path):
    same = load(model)
    x, y = arrays(tmp_path / "more.npz", 2, 3)
    code, out, err = merlin("learn", "model", "more.npz", "--task", "summer", "--end-task", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["examples"], told["new_classes"], told["tasks"]) == (60, ["fir", "oak"], ["winter", "summer"])
    same.partial_fit(x, y, task="summer").end_task()
    np.testing.assert_array_equal(load(model).predict_proba(x), same.predict_proba(x))
    code, out, _ = merlin("learn", "model", "more.npz", "--task", "winter", "--out", "other")
    assert code == 0
    assert "has learned 60 examples" in out
    assert load(tmp_path / "other").visits_ == ["winter", "summer", "winter"]
    assert load(model).visits_ == ["winter", "summer"]


def test_a_table_brings_its_tasks_in_order(merlin, tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = clouds(0, 1)
    frame = pandas.DataFrame(x, columns=list("abcdef"))
    rival("er").partial_fit(frame, NAMES[y], task="first").save(tmp_path / "model")
    more = frame.assign(kind=NAMES[y + 1], season=["summer"] * 20 + ["winter"] * 20 + ["summer"] * 20)
    more[["f", "season", *"edcba", "kind"]].to_csv(tmp_path / "more.csv", index=False)
    code, _, err = merlin("learn", "model", "more.csv", "--label", "kind", "--task-column", "season")
    assert code == 0, err
    again = load(tmp_path / "model")
    assert again.visits_ == ["first", "summer", "winter", "summer"]
    assert list(again.feature_names_in_) == list("abcdef")


def test_a_folder_of_images(merlin, tmp_path):
    draws = np.random.default_rng(0)
    ContinualClassifier("slda").partial_fit(
        draws.integers(0, 255, (20, 8, 8), dtype=np.uint8), np.array(["cat", "dog"])[np.arange(20) % 2]
    ).save(tmp_path / "model")
    (tmp_path / "more" / "eel").mkdir(parents=True)
    for number in range(3):
        picture = Image.fromarray(draws.integers(0, 255, (16 + number, 16), dtype=np.uint8))
        picture.save(tmp_path / "more" / "eel" / f"{number}.png")
    code, _, err = merlin("learn", "model", "more")
    assert code == 0, err
    assert load(tmp_path / "model").classes_.tolist() == ["cat", "dog", "eel"]


def test_nothing_is_changed_where_anything_fails(merlin, model, tmp_path):
    before = model.read_bytes()
    arrays(tmp_path / "numbers.npz", 0, 1, labels=np.arange(5))
    np.savez(tmp_path / "narrow.npz", x=np.zeros((2, 5)), y=["ash", "elm"])
    np.savez(tmp_path / "nan.npz", x=np.full((2, 6), np.nan), y=["ash", "elm"])
    arrays(tmp_path / "tasks.npz", 0, 1, task=np.array(["a"] * 60))
    (tmp_path / "rows.csv").write_text("a,b,c,d,e,f\n1,2,3,4,5,6\n")
    for arguments, complaint in {
        ("narrow.npz",): "inputs of shape [5]; the learner takes [6]",
        ("nan.npz",): "NaN",
        ("tasks.npz", "--task", "b"): "says which task an example belongs to; leave out --task b",
        ("rows.csv",): "Unknown column of rows.csv 'label'",
        ("nowhere.npz",): "nowhere.npz is not there",
        ("model",): "form that is not known",
    }.items():
        code, out, err = merlin("learn", "model", *arguments)
        assert (code > 0, out) == (True, ""), arguments
        assert complaint in err
        assert err.count("\n") == 1
    assert model.read_bytes() == before
    assert merlin("learn", "model", "numbers.npz")[0] == 0  # text that looks like numbers is text


def test_labels_of_another_kind(merlin, tmp_path):
    rival("er").partial_fit(*clouds(0, 1)).save(tmp_path / "model")
    arrays(tmp_path / "text.npz", 0, 1)
    code, _, err = merlin("learn", "model", "text.npz")
    assert code == 1
    assert "is not like those the model knows, such as 0" in err


def test_two_do_not_change_one_file_at_once(merlin, model, tmp_path):
    arrays(tmp_path / "more.npz", 2, 3)
    with model.open("rb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        code, _, err = merlin("learn", "model", "more.npz")
    assert code == 1
    assert "is being changed by another process" in err
    with held(model):
        pass


def test_the_record_of_a_run_stays_as_it_is(merlin, tmp_path):
    code, out, err = merlin("run", "--method", "slda", "--tasks", "2", "--images-per-task", "20", "--json")
    assert code == 0, err
    folder = json.loads(out)["folder"]
    np.savez(tmp_path / "more.npz", x=np.zeros((4, 28, 28), np.uint8), y=[7, 7, 8, 8])
    code, _, err = merlin("learn", folder, "more.npz")
    assert code == 2
    assert "say where to write" in err
    assert merlin("learn", folder, "more.npz", "--out", "taught")[0] == 0
    assert 8 in load(tmp_path / "taught").classes_
