"""`merlin run --prequential` answers every batch before it is learned, and leaves no folder."""

import json

import pytest

RUN = ["run", "split-mnist", "--method", "slda", "--tasks", "2", "--images-per-task", "60", "--prequential"]


def test_figures_of_every_task(merlin, tmp_path):
    code, out, err = merlin(*RUN, "--json", "--window", "30")
    assert code == 0, err
    told = json.loads(out)
    assert [task["examples"] for task in told["tasks"]] == [60, 60]
    assert told["of_classes_met"] == 100  # the first batch of a task is of classes that nobody has taught
    assert 0.5 < told["accuracy"] < 100 / 120
    assert [at for at, _ in told["curve"]] == [30, 60, 90, 120]
    assert not (tmp_path / "runs").exists()
    code, out, err = merlin(*RUN)
    assert code == 0
    assert "0 and 1" in out
    assert "answered before it was learned" in err
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("window", ["0", "-3"])
def test_no_window(merlin, window):
    code, _, err = merlin(*RUN, "--window", window)
    assert code == 2
    assert f"window is {window}; give a number of examples of at least 1." in err
