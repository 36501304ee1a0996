"""The script that measures what a second worker is worth."""

import importlib.util
import json
import sys
from contextlib import contextmanager
from pathlib import Path

from runs.test_grid import HereEngine

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "engines.py"


def test_efficiency_is_one_worker_s_time_over_twice_that_of_two(monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("engines_benchmark", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    asked = []

    @contextmanager
    def engine(name, root, workers):
        asked.append((name, workers))
        yield HereEngine(root, slots=workers)

    monkeypatch.setattr(script, "engine", engine)
    monkeypatch.setattr(sys, "argv", ["engines.py", "--tiny"])
    script.main()
    printed = json.loads(capsys.readouterr().out)
    one, two = printed["workers"]
    assert asked == [("local", 1), ("local", 1), ("local", 2)]  # the first one only starts what is started once
    assert (one["workers"], two["workers"]) == (1, 2)
    assert abs(printed["efficiency"] - one["seconds"] / (2 * two["seconds"])) < 0.001
