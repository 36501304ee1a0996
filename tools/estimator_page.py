"""Writes the figures under results/estimator/ into docs/estimator.md and docs/saved-learner.md, between their marks.

`python tools/estimator_page.py` writes them; with `--check` it says which page is not what the files make it.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "estimator"
PAGES = {"docs/estimator.md": ("detection", "accuracy", "speed"), "docs/saved-learner.md": ("file",)}
OF_THE_FILE = ("save and load (s)", "file (MB)")


def detection() -> str:
    """Which boundaries were found."""
    rows = _read("hidden-boundaries-detection.json")["rows"]
    return _table(
        ("stream", "boundaries", "found", "missed", "false alarms", "mean delay, examples"),
        (
            (row["stream"], row["boundaries"], row["found"], row["missed"], row["false"], _number(row["mean_delay"], 1))
            for row in rows
        ),
    )


def accuracy() -> str:
    """What was learned, told and not told."""
    files = sorted(RESULTS.glob("hidden-boundaries-*-*.json"), reverse=True)
    rows = [row for file in files for row in _read(file.name)["rows"]]
    return _table(
        ("stream", "method", "boundaries", "tasks", "accuracy, %"),
        (
            (row["stream"], f"`{row['method']}`", _cut(row["boundaries"]), row["tasks"], f"{row['accuracy']:.1f}")
            for row in rows
        ),
    )


def speed() -> str:
    """How long things take."""
    return _figures(lambda name: name not in OF_THE_FILE)


def file() -> str:
    """How large a saved learner is, and how long saving and loading take."""
    return _figures(lambda name: name in OF_THE_FILE)


def written(page: str, tables: dict[str, str]) -> str:
    """The page with each table between its marks."""
    for name, table in tables.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not mark.search(page):
            raise SystemExit(f"There is no mark for {name}; put `<!-- {name} -->` and `<!-- end -->` where it belongs.")
        page = mark.sub(lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}", page)
    return page


def _figures(chosen: Callable[[str], bool]) -> str:
    record = _read("speed.json")
    return _table(
        ("", "measured", "asked for"),
        (
            (name, f"{value:.3g}", f"at most {record['limits'][name]}" if name in record["limits"] else "")
            for name, value in record["figures"].items()
            if chosen(name)
        ),
    )


def _read(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / name).read_text("utf-8"))
    return record


def _table(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _cut(boundaries: str | int) -> str:
    return boundaries if isinstance(boundaries, str) else f"every {boundaries:,} examples"


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page would change")
    check = parser.parse_args().check
    tables = {"detection": detection, "accuracy": accuracy, "speed": speed, "file": file}
    for name, marks in PAGES.items():
        path = ROOT / name
        before = path.read_text("utf-8")
        after = written(before, {mark: tables[mark]() for mark in marks})
        if not check:
            path.write_text(after, "utf-8")
        elif after != before:
            raise SystemExit(f"{name} does not follow from the files; run python tools/estimator_page.py.")


if __name__ == "__main__":
    main()
