"""The comparison with Avalanche: it runs where Avalanche is, and says so where it is not."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "avalanche_parity.py"
present = find_spec("avalanche") is not None


def called(*arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, env=environment)


@pytest.mark.skipif(present, reason="Avalanche is installed here")
def test_without_avalanche_one_sentence_says_what_to_do(tmp_path):
    done = called("--into", tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(
        "Avalanche is not installed here, so there is nothing to compare with; docs/rivals.md"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not present, reason="Avalanche is not installed here; docs/rivals.md says how to get it")
def test_both_sides_learn_the_same_stream(tmp_path):
    done = called("--into", tmp_path, "--seeds", "0", "--images-per-task", "40", "--methods", "slda")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "slda.json").read_text())["runs"]
    assert abs(run["ours"]["final_accuracy"] - run["theirs"]["final_accuracy"]) < 5
    assert run["ours"]["milliseconds_per_example"] > 0
