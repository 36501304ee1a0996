"""The parts of the package import what the table in docs/architecture.md allows, and never in a circle."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "merlin_cl"
PAGE = ROOT / "docs" / "architecture.md"


def table(page: str) -> dict[str, set[str]]:
    """Parts by name, and those that each may import."""
    rows = re.findall(r"^\| `([\w.]+?)(?:\.py|/)` \|.*\| ([^|]+) \|$", page, flags=re.MULTILINE)
    parts = {name for name, _ in rows}
    assert len(parts) == len(rows), "a part stands twice in the table"
    words = {"nothing": set(), "all": parts}
    return {
        name: words.get(allowed) or {one for one in allowed.split(", ") if one not in words} for name, allowed in rows
    }


def parts() -> set[str]:
    """The parts there are: modules and packages at the top, but for the front door."""
    names = {path.stem for path in PACKAGE.iterdir() if (path.suffix == ".py" or (path / "__init__.py").is_file())}
    return names - {"__init__"}


def imports() -> Iterator[tuple[str, str, str]]:
    """Every import from one part of another, also within functions: the two, and where it stands."""
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            if names == ["merlin_cl"]:
                names = [f"merlin_cl.{one.name}" for one in node.names]
            elif isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            for name in names:
                other = name.split(".")[1] if name.startswith("merlin_cl.") else part
                if other != part and part != "__init__" and other != "__version__":
                    yield part, other, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_part_is_in_the_table():
    assert set(table(PAGE.read_text(encoding="utf-8"))) == parts()


def test_parts_import_what_the_table_allows():
    allowed = table(PAGE.read_text(encoding="utf-8"))
    strange = [
        f"{place}: {part} may not import {other}" for part, other, place in imports() if other not in allowed[part]
    ]
    assert not strange, "\n".join(strange)


def test_the_table_has_no_circle():
    allowed = table(PAGE.read_text(encoding="utf-8"))
    allowed["cli"].discard("cli")
    TopologicalSorter(allowed).prepare()


def test_a_circle_would_be_seen():
    page = "| `a.py` | x | b |\n| `b/` | y | a |\n"
    with pytest.raises(CycleError):
        TopologicalSorter(table(page)).prepare()


def test_imports_within_functions_are_seen():
    assert any(part == "cli" and other == "serving" for part, other, _ in imports())  # `cli/serve.py` waits with it
