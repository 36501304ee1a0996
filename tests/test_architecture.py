"""The parts of the package import what the table in docs/architecture.md allows, never in a circle; a name has one meaning."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "merlin_cl"
PAGE = ROOT / "docs" / "architecture.md"
CODE = [ROOT / folder for folder in ("src", "tests", "tools", "experiments", "benchmarks", "examples")]
NAMES_THAT_SAY_NOTHING = {"found", "among", "stranger", "settle", "so_far", "_being_learned", "_alike", "a_byte"}
"""Of values, functions and parameters: they say how a thing came about, or nothing, where a name says what it is."""
OLD_MODULES = re.compile(
    "taking_away|plain|exporting|distilling|kept|of_runs|doors|own|places|opening|getting|verifying|all_digits|drawing|"
    "neighbours|chosen|values|utils|helpers|common|misc"
)
OLD_CLASSES = {"Told", "TakenAway", "EverySoMany"}
ONE_MEANING_IN_TWO_PLACES = {"BaseModels", "WeightDistribution", "Command"}
"""The paper's parts, which MERLIN and the recipe as printed have one each of; what the parser of a command gives."""


@dataclass(frozen=True)
class Facts:
    """What these tests ask of a file."""

    imports: list[tuple[str, int]]
    """Modules, and the lines that import them, also within functions."""
    names: set[str]
    """Everything that the code gives a name to."""
    classes: list[tuple[str, int]]


@cache
def facts(path: Path) -> Facts:
    """Read a file once for all tests."""
    imports, names, classes = [], set(), []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module="merlin_cl"):
                imports += [(f"merlin_cl.{one.name}", node.lineno) for one in node.names]
            case ast.ImportFrom(module=str(module)):
                imports.append((module, node.lineno))
            case ast.Import():
                imports += [(one.name, node.lineno) for one in node.names]
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
                classes.append((name, node.lineno))
    return Facts(imports, names, classes)


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
        for name, line in facts(path).imports:
            other = name.split(".")[1] if name.startswith("merlin_cl.") else part
            if other != part and part != "__init__" and other != "__version__":
                yield part, other, f"{path.relative_to(ROOT)}:{line}"


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


def test_names_say_what_things_are():
    files = [path for folder in CODE for path in sorted(folder.rglob("*.py"))]
    words = NAMES_THAT_SAY_NOTHING | OLD_CLASSES
    said = re.compile(rf"\b({'|'.join(words)})\b")  # few files say one at all, most of them in prose
    bad = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        if said.search(path.read_text(encoding="utf-8"))
        for name in sorted(facts(path).names & words)
    ]
    bad += [f"{path.relative_to(ROOT)}" for path in files if OLD_MODULES.fullmatch(path.stem)]
    assert not bad, "\n".join(bad)


def test_a_class_name_has_one_meaning():
    homes = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name, line in facts(path).classes:
            homes[name].append(f"{path.relative_to(ROOT)}:{line}")
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert set(twice) == ONE_MEANING_IN_TWO_PLACES, twice
