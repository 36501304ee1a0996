"""The scripts in examples/ run as they stand, in an empty folder, without a word on standard error."""

import re
import runpy
import sys

import pytest
from tests.docs.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def said_by(tmp_path, monkeypatch, capsys):
    """What a script prints in an empty folder; where it warns, it fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERLIN_FEATURES", str(tmp_path / "features"))

    def call(name, *arguments):
        script = ROOT / "examples" / f"{name}.py"
        monkeypatch.setattr(sys, "path", [str(script.parent), *sys.path])
        monkeypatch.setattr(sys, "argv", [str(script), *arguments])
        runpy.run_path(str(script), run_name="__main__")
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return call


def test_every_example_is_run_by_a_test():
    """By one of what it says: below, or among those of the estimator (tests/estimator/test_example.py)."""
    assert {path.stem for path in EXAMPLES} == {"own_data", "estimator", "tickets", "camera", "machines"}


def test_merlin_forgets_less_than_a_single_network(said_by, tmp_path):
    lines = said_by("own_data").splitlines()
    single, merlin = (float(line.split()[1]) for line in lines)
    assert merlin > single + 10
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def quickly(said_by, tmp_path):
    """The percentages that an example in its quick form ends with; its picture is whole."""

    def call(name):
        said = said_by(name, "--quick")
        assert (tmp_path / f"{name}.svg").read_text("utf-8").rstrip().endswith("</svg>")
        return [int(number) for number in re.findall(r"(\d+)%", said)]

    return call


def test_tickets_of_earlier_months_stay_sorted(quickly):
    sorted_right, _, strange, known, reworded = quickly("tickets")
    assert sorted_right > 25  # hashed words know no synonyms: better than one in six is enough
    assert known < strange
    assert known <= reworded


def test_the_camera_finds_new_objects_strange_and_learns_them(quickly):
    strange, alarms, new, old, before = quickly("camera")
    assert strange > alarms + 40
    assert min(new, old, before) > 80


def test_a_learner_that_goes_on_beats_one_that_was_never_touched(quickly):
    learned, stale = quickly("machines")
    assert learned > stale + 15
