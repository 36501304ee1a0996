"""Every relative link in the README and the documentation leads to a file, every #anchor to a heading; scripts are there."""

import re

import pytest
from tests.docs.pages import NAMES, ROOT, blocks, without_code

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


SCRIPT = re.compile(r"\b(?:tools|benchmarks|experiments|examples)/[\w/-]+\.(?:py|toml)\b")


@pytest.mark.parametrize("name", NAMES)
def test_scripts_that_are_named_are_there(name):
    named = set(SCRIPT.findall((ROOT / name).read_text("utf-8")))
    assert {path for path in named if not (ROOT / path).is_file()} == set()


@pytest.mark.parametrize("name", NAMES)
def test_comments_stand_above_commands(name):
    """Behind them they are cut on a phone."""
    shown = [block.code for block in blocks((ROOT / name).read_text("utf-8")) if block.info == "sh"]
    assert [line for code in shown for line in code.splitlines() if re.search(r"^[^#\s][^#]*\S {2,}# ", line)] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/methods/")])
def test_every_method_page_is_listed(name):
    listing = (ROOT / "docs/methods/README.md").read_text("utf-8")
    assert name.endswith("README.md") or f"({name.removeprefix('docs/methods/')})" in listing


def test_anchors_are_those_of_the_headings():
    assert anchors("# Live: `merlin watch`\n\n## What it *is*\n") == {"live-merlin-watch", "what-it-is"}
