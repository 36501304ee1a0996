"""The figures on the pages of the estimator follow from the result files."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "estimator_page.py"


def test_the_pages_follow_from_the_files():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("estimator_page", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_asked_for_is_met(tool):
    record = tool._read("speed.json")
    assert record["limits"]
    assert {
        name: record["figures"][name] for name, limit in record["limits"].items() if record["figures"][name] > limit
    } == {}


def test_tables_are_written_between_their_marks_and_nowhere_else(tool):
    page = "a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n"
    expected = "a\n<!-- one -->\n\n| x |\n\n<!-- end -->\nb\n<!-- two -->\n\n| y |\n\n<!-- end -->\n"
    assert tool.written(page, {"one": "| x |\n", "two": "| y |\n"}) == expected
    assert tool.written(expected, {"one": "| x |\n", "two": "| y |\n"}) == expected
    with pytest.raises(SystemExit, match="no mark for three"):
        tool.written(page, {"three": ""})
