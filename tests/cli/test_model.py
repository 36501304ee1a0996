"""`merlin model` says what is in a file without running any of it, and writes it in the newest format."""

import json

import numpy as np
import pytest

from estimator.small import clouds, rival
from estimator.small import merlin as small_merlin
from merlin_cl import ContinualClassifier, load
from merlin_cl.learners.saving import format as file_format


def test_what_is_in_a_file(merlin, tmp_path):
    model = small_merlin(calibration=20)
    for task, classes in (("winter", (0, 1)), ("summer", (2, 3)), ("winter", (0, 1))):
        model.partial_fit(*clouds(*classes), task=task)
    model.save(tmp_path / "model")
    code, out, err = merlin("model", "model", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["method"], told["format"], told["usable"]) == ("merlin", file_format.VERSION, True)
    assert [(task["name"], task["classes"]) for task in told["tasks"]] == [
        ("winter", [0, 1]), ("summer", [2, 3]), ("winter", [0, 1]),
    ]  # fmt: skip
    assert (told["learning"], told["bytes"]) == (True, (tmp_path / "model").stat().st_size)
    assert sum(told["exemplars"].values()) == len(model.learner_.memory)
    assert told["held_back"] == len(model._calibration)
    assert 0 < sum(told["parts"].values()) <= told["bytes"]
    code, out, _ = merlin("model", "model")
    assert code == 0
    for line in ("task 2        winter: 0, 1, not ended", "usable        yes", "classes       4: 0, 1, 2, 3"):
        assert line in out.splitlines()


def test_a_file_that_names_code_is_told_and_not_run(merlin, tmp_path):
    path = rival("er").fit(*clouds(0, 1)).save(tmp_path / "model")
    header, state = file_format.read(path)
    header["settings"]["network"] = header["extra"]["parameters"]["settings"]["network"] = "no_such_module:factory"
    path.write_bytes(file_format.to_bytes(header, state))
    code, out, _ = merlin("model", "model")
    assert code == 0
    assert "needs         no_such_module:factory, code outside this package" in out
    assert "usable        no: model names 'no_such_module:factory'" in out


def test_upgrading_changes_no_answer(merlin, tmp_path, monkeypatch):
    model = rival("er").fit(*clouds(0, 1))
    monkeypatch.setattr(file_format, "VERSION", 1)
    path = model.save(tmp_path / "model")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, out, err = merlin("model", "model", "--upgrade", "--out", "newer", "--json")
    assert code == 0
    assert "format 1, written by merlin-cl" in err
    assert json.loads(out)["format"] == file_format.VERSION
    x = clouds(0, 1)[0]
    np.testing.assert_array_equal(load(tmp_path / "newer").predict_proba(x), model.predict_proba(x))
    assert merlin("model", "model", "--upgrade")[0] == 0
    assert ContinualClassifier.load(path).partial_fit(x, [0] * len(x)).tasks_ == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nowhere",), "nowhere is not there"),
        (("noise",), "no learner that merlin-cl has saved"),
        (("model", "--out", "other"), "add --upgrade"),
        (("newer",), "written by a newer merlin-cl"),
        (("short",), "not the whole of one"),
    ],
)
def test_wrong_things(merlin, tmp_path, arguments, complaint, monkeypatch):
    (tmp_path / "noise").write_bytes(b"noise" * 20)
    model = rival("er").fit(*clouds(0, 1))
    path = model.save(tmp_path / "model")
    (tmp_path / "short").write_bytes(path.read_bytes()[:-10])
    monkeypatch.setattr(file_format, "VERSION", 99)
    model.save(tmp_path / "newer")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, out, err = merlin("model", *arguments)
    assert (code > 0, out) == (True, "")
    assert complaint in err
    assert err.count("\n") == 1
