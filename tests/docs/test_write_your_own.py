"""The packages of docs/write-your-own.md, installed: they pass the battery, run in a grid beside others and are reported."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
from tests.docs.pages import ROOT, blocks

from merlin_cl.checks import check_learner, check_stream
from merlin_cl.cli import exit_code
from merlin_cl.learners import method_names, method_settings
from merlin_cl.streams import stream_names, stream_settings
from patience import PATIENCE

EXAMPLES = ROOT / "examples"
PACKAGES = [EXAMPLES / "own_method", EXAMPLES / "own_stream"]
SMALL = {"hidden_units": (8,), "exemplars": 12, "replay": 4, "updates_per_batch": 5, "learning_rate": 2e-2}


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A folder that pip has installed both packages into, without asking any index."""
    folder = tmp_path_factory.mktemp("installed")
    quietly = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
    command = [sys.executable, "-m", "pip", "install", *quietly, "--target", str(folder), *map(str, PACKAGES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def installed(target, monkeypatch):
    """Both packages, for this process and for those that it starts."""
    monkeypatch.syspath_prepend(str(target))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])]))


@pytest.mark.usefixtures("installed")
def test_the_method_passes_the_battery():
    assert "er-la" in method_names()
    settings = method_settings("er-la")(**SMALL)
    check_learner(settings)
    assert len((PACKAGES[0] / "er_la" / "learner.py").read_text().splitlines()) < 25


@pytest.mark.usefixtures("installed")
def test_the_stream_passes_its_checks():
    assert "small-digits" in stream_names()
    check_stream(stream_settings("small-digits")())


@pytest.mark.usefixtures("installed")
def test_they_run_in_a_grid_beside_others_and_in_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    grid = (PACKAGES[0] / "grid.toml").read_text()
    assert tomllib.loads(grid)["methods"] == ["er-la", "er", "der++"]
    less = {"seeds = 2": "seeds = 1", '"small-digits"': '{name = "small-digits", tasks = 2}'}
    less |= {f'"{method}"': f'{{name = "{method}", updates_per_batch = 1}}' for method in ("er-la", "er", "der++")}
    for whole, part in less.items():
        assert whole in grid
        grid = grid.replace(whole, part)
    (tmp_path / "grid.toml").write_text(grid)
    assert exit_code(["grid", "grid.toml", "--out", "runs", "--workers", "1"]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert {"er-la", "er", "der++"} <= set(said.split())
    assert exit_code(["report", "runs", "--out", "report.html"]) == 0, capsys.readouterr().err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "er-la" in page
    assert "small-digits" in page


def test_the_page_shows_the_files():
    """Every file of the packages is on the page as it is."""
    shown = [block.code.rstrip("\n") for block in blocks((ROOT / "docs" / "write-your-own.md").read_text("utf-8"))]
    files = [*PACKAGES[0].rglob("*.py"), *PACKAGES[1].rglob("*.py"), PACKAGES[0] / "pyproject.toml"]
    missing = [path.name for path in files if path.read_text("utf-8").rstrip("\n") not in shown]
    assert missing == []
    entry = re.search(r'\[project.entry-points."merlin_cl.streams"\]\n.*', (PACKAGES[1] / "pyproject.toml").read_text())
    assert entry is not None
    assert entry[0] in shown
