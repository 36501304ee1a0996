"""Everything the package asks for is pinned to a version that its bounds allow, and none of it forbids an MIT package."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import metadata as metadata_of
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
UNTESTED = {"mlflow"}  # extras


def requirements(lines):
    return [Requirement(line) for line in lines if not line.startswith("merlin-cl[")]


RUNTIME = requirements(PROJECT["dependencies"])
OPTIONAL = [
    requirement
    for extra, lines in PROJECT["optional-dependencies"].items()
    if extra not in UNTESTED
    for requirement in requirements(lines)
]


@pytest.fixture(scope="module")
def pins():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    read = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin[1]): pin[2] for pin in read}


@pytest.mark.parametrize("requirement", RUNTIME + OPTIONAL, ids=lambda requirement: requirement.name)
def test_what_was_tested_is_pinned_within_the_bounds(requirement, pins):
    assert pins[canonicalize_name(requirement.name)] in requirement.specifier


@pytest.mark.parametrize("requirement", RUNTIME + OPTIONAL, ids=lambda requirement: requirement.name)
def test_every_dependency_has_a_lower_bound(requirement):
    assert any(part.operator == ">=" for part in requirement.specifier)


def test_no_pin_is_left_over(pins):
    wanted = {canonicalize_name(requirement.name) for requirement in RUNTIME + OPTIONAL}
    assert set(pins) - wanted == {"mkdocstrings-python"}  # of mkdocstrings' extra `python`


@pytest.mark.parametrize("requirement", RUNTIME + OPTIONAL, ids=lambda requirement: requirement.name)
def test_no_dependency_is_under_the_general_public_licence(requirement):
    try:
        metadata = metadata_of(requirement.name)
    except PackageNotFoundError:
        pytest.skip(f"{requirement.name} is not installed")
    said = [
        metadata.get("License-Expression") or "",
        (metadata.get("License") or "").partition("\n")[0],  # the rest may be the texts of what a wheel bundles
        *(line for line in metadata.get_all("Classifier") or [] if line.startswith("License")),
    ]
    assert not re.search(r"\bA?GPL|General Public", " ".join(said))
