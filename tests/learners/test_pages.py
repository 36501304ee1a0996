"""Every method has a page, and the settings that it lists are those that there are."""

import dataclasses
import re
from pathlib import Path

import pytest

from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.registry import BUILT_IN, method_settings

FOLDER = Path(__file__).parents[2] / "docs" / "methods"
PAGES = {"der++": "der", "gdumb-ensemble": "gdumb"}
SHARED = {field.name: field.default for field in dataclasses.fields(NetworkSettings)}
ROW = re.compile(r"^\| `--([\w-]+)` \| (.*?) \|", re.MULTILINE)


def listed(text):
    return {name.replace("-", "_"): value for name, value in ROW.findall(text)}


def written(value):
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("method", [method for method in BUILT_IN if method != "merlin"])
def test_a_page_lists_the_settings_that_differ_from_the_shared_ones(method):
    text = (FOLDER / f"{PAGES.get(method, method)}.md").read_text(encoding="utf-8")
    assert method in text.splitlines()[0].removeprefix("# ").split(", ")
    own = text.partition(f"\n`{method}`:\n")[2].partition("\n\n`")[0] or text  # a page of two methods has two tables
    expected = {
        field.name: written(field.default)
        for field in dataclasses.fields(method_settings(method))
        if field.name not in SHARED or field.default != SHARED[field.name]
    }
    assert listed(own) == expected


def test_the_overview_names_every_method_and_the_shared_settings():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {
        name for names in re.findall(r"^\| \[(.*?)\]", text, re.MULTILINE) for name in names.strip("`").split("`, `")
    } == set(BUILT_IN)
    assert listed(text) == {name: written(value) for name, value in SHARED.items()}
