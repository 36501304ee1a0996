"""The page of benchmarks follows from the result files, and so do the README's figures."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_follows_from_the_files():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "benchmarks_page.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_figure_of_the_readme_is_on_the_page():
    figures = re.findall(r"\d+\.\d\d ± \d+\.\d\d", (ROOT / "README.md").read_text())
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert figures
    assert [figure for figure in figures if figure not in page] == []
