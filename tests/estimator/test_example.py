"""The example and the benchmarks run, and say what they promise."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="no part of what was installed")


def run(path, *arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", [path, *map(str, arguments)])
    runpy.run_path(str(ROOT / path), run_name="__main__")


@pytest.mark.usefixtures("short_fits")
def test_the_example_finds_all_tasks_and_learns_them(monkeypatch, capsys):
    run("examples/estimator.py", monkeypatch=monkeypatch)
    said = capsys.readouterr().out
    assert "[[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]" in said
    assert all(float(percent) > 60 for percent in re.findall(r"([\d.]+) %$", said, re.MULTILINE))


@pytest.mark.usefixtures("short_fits")
def test_the_estimators_benchmark_measures_what_has_a_limit(monkeypatch, tmp_path):
    run("benchmarks/estimator.py", "--tiny", "--out", tmp_path / "figures.json", monkeypatch=monkeypatch)
    record = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    limited = {re.sub(r"10,000", "", name) for name in record["limits"]}
    measured = {re.sub(r"^200|E = 3\b", "", name) for name in record["figures"]}
    assert limited <= measured


def test_the_benchmark_of_hidden_boundaries_finds_new_classes(monkeypatch, tmp_path):
    run(
        "experiments/hidden_boundaries.py",
        "detection",
        "--tiny",
        "--out",
        tmp_path / "found.json",
        monkeypatch=monkeypatch,
    )
    rows = {row["stream"]: row for row in json.loads((tmp_path / "found.json").read_text("utf-8"))["rows"]}
    abrupt = rows["new classes (split-mnist)"]
    assert (abrupt["found"], abrupt["missed"], abrupt["false"], abrupt["mean_delay"]) == (4, 0, 0, 0)
    assert rows["one task, no boundary"]["false"] == 0
