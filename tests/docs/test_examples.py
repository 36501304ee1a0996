"""Every script in examples/ runs as it stands, in an empty folder, without a word on standard error."""

import os
import subprocess
import sys

import pytest
from tests.docs.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def said_by(script, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,  # a minute where nothing else runs
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


TESTED_ELSEWHERE = ("own_data", "estimator")
"""By a test of what they say: below, and among those of the estimator."""


@pytest.mark.parametrize(
    "script", [path for path in EXAMPLES if path.stem not in TESTED_ELSEWHERE], ids=lambda path: path.stem
)
def test_the_example_runs(script, tmp_path):
    assert said_by(script, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_merlin_forgets_less_than_a_single_network(tmp_path):
    lines = said_by(ROOT / "examples" / "own_data.py", tmp_path).splitlines()
    single, merlin = (float(line.split()[1]) for line in lines)
    assert merlin > single + 10
