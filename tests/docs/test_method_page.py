"""The figures of docs/method.md follow from the files, and what sampled models keep is counted right."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "method_page.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="no part of what was installed")


def test_the_page_follows_from_the_files():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_losses_are_those_of_the_last_sampling_against_the_base_ensemble():
    def result(base, sampled):
        learned = {"base_single": base - 1, "base_ensemble": base, "sampled_ensemble": sampled}
        return {"diagnosis": {"learned": [learned], "final": [{"sampled_ensemble": sampled - 2}]}}

    table = runpy.run_path(str(TOOL))["fidelity"]([result(90.0, 89.0), result(80.0, 80.0)])
    assert "| 1 | 84.00 | 85.00 | 84.50 | 82.50 | 2.50 | 3.00 |" in table.splitlines()
