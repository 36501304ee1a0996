"""docs/descriptors.md: the few-shot curve, from what experiments/few_shot.py left."""

import json
import statistics
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

RECORD = ROOT / "experiments" / "results" / "few_shot" / "split-cifar100.json"
STARTS = {
    "words": "`words`: known classes vote by meaning",
    "fresh": "`fresh`: own initial weights",
    "start": "`start`: psi_0, the same for all",
    "average": "`average`: all tasks' priors, no descriptor",
    "linear": "`linear`: the descriptor's prior",
    "neighbours": "`neighbours`: that of one known task each, near ones more often",
}


def pages() -> dict[str, str]:
    """Return the page."""
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {"accuracy": []}
    return {"docs/descriptors.md": filled("docs/descriptors.md", {"curve": curve(record["accuracy"])})}


def curve(rows: list[dict[str, Any]]) -> str:
    """Return a row for each start: the mean over seeds and tasks held out for every number of examples a class.

    >>> cells = [{"seed": 0, "start": "fresh", "n": n, "accuracy": 10.0 + n} for n in (0, 5)]
    >>> print(curve(cells))
    Seeds: 0.
    <BLANKLINE>
    | start | n = 0 | n = 5 |
    |---|---:|---:|
    | `fresh`: own initial weights | 10.0 | 15.0 |
    """
    if not rows:
        return NOTHING
    shots = sorted({row["n"] for row in rows})
    held: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        held.setdefault((row["start"], row["n"]), []).append(row["accuracy"])
    lines = [
        (title, *(f"{statistics.fmean(held[start, n]):.1f}" if (start, n) in held else "" for n in shots))
        for start, title in STARTS.items()
        if any((start, n) in held for n in shots)
    ]
    seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
    return f"Seeds: {seeds}.\n\n" + table(("start", *(f"n = {n}:" for n in shots)), lines)
