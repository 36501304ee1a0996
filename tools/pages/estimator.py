"""docs/estimator.md and docs/saved-learner.md: boundaries found, accuracy, speed and size, from results/estimator/."""

import json
from collections.abc import Callable
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

FOLDER = ROOT / "results" / "estimator"
OF_THE_FILE = ("save and load (s)", "file (MB)")


def pages() -> dict[str, str]:
    """Return both pages."""
    told = {"detection": detection(), "accuracy": accuracy(), "speed": figures(lambda name: name not in OF_THE_FILE)}
    kept = {"file": figures(lambda name: name in OF_THE_FILE)}
    return {page: filled(page, parts) for page, parts in (("docs/estimator.md", told), ("docs/saved-learner.md", kept))}


def detection() -> str:
    """Return which boundaries were found."""
    headings = ("stream", "boundaries:", "found:", "missed:", "false alarms:", "mean delay, examples:")
    rows = [
        (row["stream"], row["boundaries"], row["found"], row["missed"], row["false"], _delay(row["mean_delay"]))
        for row in _read("hidden-boundaries-detection.json")["rows"]
    ]
    return table(headings, rows) if rows else NOTHING


def accuracy() -> str:
    """Return what was learned, told and not told where tasks end."""
    files = sorted(FOLDER.glob("hidden-boundaries-*-*.json"), reverse=True)
    rows = [row for file in files for row in _read(file.name)["rows"]]
    return table(
        ("stream", "method", "boundaries", "tasks:", "accuracy, %:"),
        [
            (row["stream"], f"`{row['method']}`", _cut(row["boundaries"]), row["tasks"], f"{row['accuracy']:.1f}")
            for row in rows
        ],
    )


def figures(chosen: Callable[[str], bool]) -> str:
    """Return how long things take, or how large they are, beside what was asked for."""
    record = _read("speed.json")
    limits = record["limits"]
    return table(
        ("", "measured:", "asked for"),
        [
            (name, f"{value:.3g}", f"at most {limits[name]}" if name in limits else "")
            for name, value in record["figures"].items()
            if chosen(name)
        ],
    )


def _read(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((FOLDER / name).read_text("utf-8"))
    return record


def _delay(examples: float | None) -> str:
    return "–" if examples is None else f"{examples:.1f}"


def _cut(boundaries: str | int) -> str:
    return boundaries if isinstance(boundaries, str) else f"every {boundaries:,} examples"
