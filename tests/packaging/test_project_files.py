"""Files that are not code say the same as the code: versions, Pythons, hooks."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import merlin_cl
from merlin_cl.learners.retired import LAST_VERSION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(name):
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_the_changelog_begins_with_this_version():
    versions = re.findall(
        r"^## (\S+) \((\d{4}-\d\d-\d\d|unreleased)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    assert versions[0][0] == merlin_cl.__version__
    assert LAST_VERSION in [version for version, _ in versions[1:]]


def test_the_citation_is_of_this_version_and_of_the_paper():
    citation = read("CITATION.cff")
    assert citation["version"] == merlin_cl.__version__
    assert citation["preferred-citation"]["url"] == PROJECT["urls"]["Paper"]


def test_the_workflow_runs_what_has_to_pass_on_every_python_that_is_supported():
    job = read(".github/workflows/test.yml")["jobs"]["test"]
    pythons = job["strategy"]["matrix"]["python"]
    assert pythons[0] == PROJECT["requires-python"].removeprefix(">=")
    assert {f"Programming Language :: Python :: {python}" for python in pythons} <= set(PROJECT["classifiers"])
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]


def test_the_hooks_are_well_formed():
    pytest.importorskip("pre_commit")
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("subject", "passes"), [("x" * 72, True), ("ä" * 72, True), ("x" * 73, False)])
def test_the_hook_for_subjects_counts_72_characters(subject, passes, tmp_path):
    (hook,) = (
        hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"] if hook["id"] == "subject"
    )
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nWhy.\n", "utf-8")
    done = subprocess.run(f"{hook['entry']} {message}", shell=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    assert (done.returncode == 0) == passes
