"""Every method has a page, and the settings that it lists are those that there are."""

import dataclasses
import re
from pathlib import Path

import pytest

from merlin_cl.learners.means import SHARED as SHARED_MEANS
from merlin_cl.learners.means import Means
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.registry import BUILT_IN, method_settings

FOLDER = Path(__file__).parents[2] / "docs" / "methods"
PAGES = {"der++": "der", "gdumb-ensemble": "gdumb"}
MEANS = tuple(field.name for field in dataclasses.fields(Means))
ROW = re.compile(r"^\| `--([\w-]+)` \| (.*?) \|", re.MULTILINE)


def listed(text):
    return {name.replace("-", "_"): value for name, value in ROW.findall(text)}


def value_of(kind, field):
    """A setting's value in a table: `shared` where it is what all methods have alike, by kind of input."""
    alike = field.name in MEANS and field.name not in getattr(kind, "own_means", MEANS)
    return "shared" if alike else written(field.default)


def written(value):
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


SHARED = {field.name: value_of(NetworkSettings, field) for field in dataclasses.fields(NetworkSettings)}


@pytest.mark.parametrize("method", [method for method in BUILT_IN if method not in ("merlin", "lookup")])
def test_a_page_lists_the_settings_that_differ_from_the_shared_ones(method):
    text = (FOLDER / f"{PAGES.get(method, method)}.md").read_text(encoding="utf-8")
    assert method in text.splitlines()[0].removeprefix("# ").split(", ")
    own = text.partition(f"\n`{method}`:\n")[2].partition("\n\n`")[0] or text  # a page of two methods has two tables
    kind = method_settings(method)
    elsewhere = SHARED if issubclass(kind, NetworkSettings) else {}
    expected = {field.name: value_of(kind, field) for field in dataclasses.fields(kind)}
    expected = {name: value for name, value in expected.items() if elsewhere.get(name) != value}
    if not elsewhere:
        expected = {name: value for name, value in expected.items() if name not in ("network", "hidden_units")}
    assert listed(own) == expected


def test_the_overview_names_every_method_and_the_shared_settings():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {
        name for names in re.findall(r"^\| \[(.*?)\]", text, re.MULTILINE) for name in names.strip("`").split("`, `")
    } == set(BUILT_IN)
    assert listed(text) == SHARED


def test_the_overview_has_the_means_that_all_share():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"| | {' | '.join(SHARED_MEANS)} |" in text
    for name in MEANS:
        assert f"| `{name}` | {' | '.join(written(getattr(means, name)) for means in SHARED_MEANS.values())} |" in text
    for method in BUILT_IN:
        own = getattr(method_settings(method), "own_means", frozenset())
        if issubclass(method_settings(method), NetworkSettings) and own:
            assert f"| `{method}` | {', '.join(f'`{name}`' for name in MEANS if name in own)} |" in text
