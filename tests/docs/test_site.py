"""The site builds without a warning, with the README as its front page and links that lead where they did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there(site):
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if not (site / str(page).replace("README", "index")).is_file()]
    assert missing == []


def test_the_front_page_is_the_readme(site):
    page = (site / "index.html").read_text("utf-8")
    assert 'href="methods/merlin.html"' in page
    assert 'href="RESULTS.html"' in page
    assert 'src="images/report.png"' in page
    assert 'href="docs/' not in page


def test_the_reference_has_docstrings(site):
    assert "goes on learning" in (site / "api" / "estimator.html").read_text("utf-8")


def test_no_page_asks_another_host_for_anything(site):
    fetched = [
        page.name
        for page in site.rglob("*.html")
        if 'src="http' in (text := page.read_text("utf-8")) or 'rel="stylesheet" href="http' in text
    ]
    assert fetched == []
