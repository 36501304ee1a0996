"""The wheel, built from the source distribution, holds what the package needs, names its licences and works by itself."""

import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import merlin_cl

pytest.importorskip("build")
pytest.importorskip("hatchling")
ROOT = Path(__file__).resolve().parents[2]
DATA_LICENCE = "src/merlin_cl/streams/embedded/LICENSE"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def outside(wheel, tmp_path_factory):
    """Run a Python program in an empty folder, with the wheel's content and no other merlin_cl."""
    installed, elsewhere = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("elsewhere")
    wheel.extractall(installed)

    def run(program, *arguments):
        environment = os.environ | {"PYTHONPATH": str(installed), "COLUMNS": "100"}
        command = [sys.executable, "-W", "error", "-c", program, *arguments]
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run("import merlin_cl; print(merlin_cl.__file__)").strip()).is_relative_to(installed)
    return run


@pytest.fixture(scope="module")
def metadata(wheel):
    (place,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(place))


def test_the_licences_of_the_code_and_of_the_embedded_data_are_named(metadata):
    assert metadata["License-Expression"] == "MIT AND CC-BY-SA-3.0"
    assert sorted(metadata.get_all("License-File")) == ["LICENSE", DATA_LICENCE]


@pytest.mark.parametrize("path", ["LICENSE", DATA_LICENCE])
def test_the_text_of_each_licence_is_in_the_wheel(wheel, path):
    (place,) = (name for name in wheel.namelist() if name.endswith(f".dist-info/licenses/{path}"))
    assert wheel.read(place) == (ROOT / path).read_bytes()


def test_every_file_of_the_package_is_in_the_wheel_and_nothing_else(wheel):
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    expected = {path.removeprefix("src/") for path in tracked.stdout.splitlines() if (ROOT / path).is_file()}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


COMMAND = """
import sys
from importlib.metadata import distribution
(script,) = distribution("merlin-cl").entry_points.select(group="console_scripts")
sys.argv[0] = script.name
script.load()()
"""


def test_it_has_the_version_that_the_code_says(metadata, outside):
    assert metadata["Version"] == merlin_cl.__version__
    assert outside(COMMAND, "--version") == f"merlin-cl {merlin_cl.__version__}\n"


def test_the_command_learns_a_stream_and_writes_a_report_outside_the_repository(outside):
    small = ["--method", "slda", "--tasks", "2", "--images-per-task", "20", "--out", "runs"]
    assert "split-mnist" in outside(COMMAND, "run", "split-mnist", *small)
    outside(COMMAND, "report", "runs", "--out", "page.html")


def test_the_estimator_learns_outside_the_repository(outside):
    program = """
import numpy as np
from merlin_cl import ContinualClassifier
X = np.repeat(np.eye(4, dtype=np.float32), 30, axis=0); y = np.repeat(np.arange(4), 30)
print(ContinualClassifier("slda").partial_fit(X, y).score(X, y))
"""
    assert outside(program) == "1.0\n"
