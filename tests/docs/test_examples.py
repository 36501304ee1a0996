"""The scripts in examples/ run as they stand, in an empty folder, without a word on standard error."""

import os
import subprocess
import sys

from tests.docs.pages import ROOT

from patience import PATIENCE

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def said_by(script, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,  # it takes a minute where nothing else runs
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_example_is_run_by_a_test():
    """By one of what it says: below, or among those of the estimator (tests/estimator/test_example.py)."""
    assert {path.stem for path in EXAMPLES} == {"own_data", "estimator"}


def test_merlin_forgets_less_than_a_single_network(tmp_path):
    lines = said_by(ROOT / "examples" / "own_data.py", tmp_path).splitlines()
    single, merlin = (float(line.split()[1]) for line in lines)
    assert merlin > single + 10
    assert list(tmp_path.iterdir()) == []
