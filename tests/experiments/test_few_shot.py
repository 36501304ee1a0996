"""The few-shot experiment on made-up data: it runs, and its figures are those of its table."""

import json
import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments" / "few_shot.py"


@pytest.mark.skipif(not SCRIPT.is_file(), reason="the experiments are not part of what was installed")
def test_few_shot_learning(tmp_path, monkeypatch, capsys):
    out = tmp_path / "figures.json"
    monkeypatch.setattr(sys, "argv", ["few_shot.py", "--tiny", "--out", str(out)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    accuracies = json.loads(out.read_text("utf-8"))["accuracy"]
    shots = {
        start: sorted({row["n"] for row in accuracies if row["start"] == start})
        for start in ("words", "linear", "fresh")
    }
    assert shots == {"words": [0], "linear": [0, 1, 5, 10], "fresh": [0, 1, 5, 10]}

    def accuracy(start, n):
        values = [row["accuracy"] for row in accuracies if row["start"] == start and row["n"] == n]
        assert len(values) == 3  # tasks held out
        return sum(values) / 3

    assert accuracy("linear", 10) > accuracy("linear", 0)
    assert f"{accuracy('neighbours', 5):9.1f}" in capsys.readouterr().out
