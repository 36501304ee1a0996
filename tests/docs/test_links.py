"""Every relative link in the README and the documentation leads to a file, and every #anchor to a heading."""

import re

import pytest
from tests.docs.pages import NAMES, ROOT, without_code

LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]+))?\)")


def anchors(text):
    """What headings are called in links, as GitHub and mkdocs both have it."""
    titles = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    broken = []
    for target, anchor in LINK.findall(re.sub(r"`[^`\n]*`", "", without_code(page.read_text("utf-8")))):
        path = page.parent / target if target else page
        there = (
            path.exists()
            and path.resolve().is_relative_to(ROOT)
            and (not anchor or anchor in anchors(path.read_text("utf-8")))
        )
        broken += [] if there else [f"{target}#{anchor}" if anchor else target]
    assert broken == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/methods/")])
def test_every_method_page_is_listed(name):
    listing = (ROOT / "docs/methods/README.md").read_text("utf-8")
    assert name.endswith("README.md") or f"({name.removeprefix('docs/methods/')})" in listing


def test_anchors_are_those_of_the_headings():
    assert anchors("# Live: `merlin watch`\n\n## What it *is*\n") == {"live-merlin-watch", "what-it-is"}
