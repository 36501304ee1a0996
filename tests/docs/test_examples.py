"""The scripts in examples/ run as they stand, in an empty folder, without a word on standard error."""

import os
import re
import subprocess
import sys

from tests.docs.pages import ROOT

from patience import PATIENCE

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def said_by(script, folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,  # it takes a minute where nothing else runs
        env=os.environ | {"OMP_NUM_THREADS": "1", "MERLIN_FEATURES": str(folder / "features")},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_example_is_run_by_a_test():
    """By one of what it says: below, or among those of the estimator (tests/estimator/test_example.py)."""
    assert {path.stem for path in EXAMPLES} == {"own_data", "estimator", "tickets", "camera", "machines"}


def test_merlin_forgets_less_than_a_single_network(tmp_path):
    lines = said_by(ROOT / "examples" / "own_data.py", tmp_path).splitlines()
    single, merlin = (float(line.split()[1]) for line in lines)
    assert merlin > single + 10
    assert list(tmp_path.iterdir()) == []


def quickly(name, folder):
    """The percentages that an example in its quick form ends with; its picture is whole."""
    said = said_by(ROOT / "examples" / f"{name}.py", folder, "--quick")
    picture = (folder / f"{name}.svg").read_text("utf-8")
    assert picture.rstrip().endswith("</svg>")
    return [int(number) for number in re.findall(r"(\d+)%", said)]


def test_tickets_of_earlier_months_stay_sorted(tmp_path):
    sorted_right, _, strange = quickly(
        "tickets", tmp_path
    )  # hashed words know no synonyms: better than one in six is enough
    assert sorted_right > 25
    assert 0 <= strange <= 100


def test_the_camera_finds_new_objects_strange_and_learns_them(tmp_path):
    strange, alarms, new, old, before = quickly("camera", tmp_path)
    assert strange > alarms + 40
    assert min(new, old, before) > 80


def test_a_learner_that_goes_on_beats_one_that_was_never_touched(tmp_path):
    learned, stale = quickly("machines", tmp_path)
    assert learned > stale + 15
