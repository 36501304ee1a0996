"""docs/serving.md: what a service bore, from what benchmarks/serving.py left."""

import json
from collections.abc import Iterator
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

TRIALS = {
    "load": "eight clients ask single rows of MNIST's size while 20 a second are taught",
    "kills": "mixed load with kills (SIGKILL)",
    "fuzz": "a fuzzer of OpenAPI documents",
}
ASKED = {
    ("load", "answers a second"): "500",
    ("load", "milliseconds, 99 of 100"): "50",
    ("kills", "lost or twice"): "0",
    ("fuzz", "5xx"): "0",
}
"""What a figure was asked to be, at least or at most."""
ELSEWHERE = ("method", "clients", "cores", "the fuzzer's last line")


def pages() -> dict[str, str]:
    """Return the page."""
    files = sorted((ROOT / "results" / "serving").glob("*.json"))
    rows = [row for file in files for row in _rows(file.stem, json.loads(file.read_text("utf-8")))]
    text = table(("trial", "method", "figure", "measured:", "asked for:"), rows) if rows else NOTHING
    return {"docs/serving.md": filled("docs/serving.md", {"figures": text})}


def _rows(name: str, record: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Return a row for each figure of a trial."""
    trial = name.partition("-")[0]
    first = True
    for figure, value in record.items():
        if figure not in ELSEWHERE:
            shown = (TRIALS[trial], f"`{record['method']}`") if first else ("", "")
            first = False
            yield (*shown, figure, _shown(value), ASKED.get((trial, figure), ""))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:,}" if isinstance(value, int | float) else str(value)
