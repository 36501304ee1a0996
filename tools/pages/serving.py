"""docs/serving.md: what a service bore, from what benchmarks/serving.py left."""

import json
from pathlib import Path
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

TRIALS = {
    "load": "Eight clients ask single rows of MNIST's size while 20 a second are taught",
    "kills": "Mixed load with kills (SIGKILL)",
    "fuzz": "A fuzzer of OpenAPI documents",
}
ASKED = {
    ("load", "answers a second"): "at least 500",
    ("load", "milliseconds, 99 of 100"): "under 50",
    ("kills", "lost or twice"): "0",
    ("fuzz", "5xx"): "0",
}
"""What a figure was asked to be, at least or at most."""
ELSEWHERE = ("method", "clients", "cores", "the fuzzer's last line")


def pages() -> dict[str, str]:
    """Return the page."""
    files = sorted(
        (ROOT / "results" / "serving").glob("*.json"), key=lambda file: (list(TRIALS).index(_trial(file)), file)
    )
    tables = [_table(_trial(file), json.loads(file.read_text("utf-8"))) for file in files]
    return {"docs/serving.md": filled("docs/serving.md", {"figures": "\n\n".join(tables) or NOTHING})}


def _trial(file: Path) -> str:
    return file.stem.partition("-")[0]


def _table(trial: str, record: dict[str, Any]) -> str:
    """Return a trial and its figures: few columns, so that a phone shows the numbers."""
    rows = [
        (figure, _shown(value), ASKED.get((trial, figure), ""))
        for figure, value in record.items()
        if figure not in ELSEWHERE
    ]
    return f"**{TRIALS[trial]}**, `{record['method']}`\n\n{table(('figure', 'measured:', 'asked for:'), rows)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:,}" if isinstance(value, int | float) else str(value)
