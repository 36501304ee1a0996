"""docs/refusing.md: coverage and novelty, from what experiments/refusing.py left."""

import json
import statistics
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

HEADINGS = (
    "stream",
    "method",
    "seeds:",
    "accuracy:",
    "covered at 80 %:",
    "at 90 %:",
    "at 95 %:",
    "labels at 90 %:",
    "AUROC of novelty:",
    "of the probability:",
)
NOVELTY = ("auroc", "auroc of confidence")


def pages() -> dict[str, str]:
    """Return the page."""
    files = sorted((ROOT / "results" / "refusing").glob("*.json"))
    return {
        "docs/refusing.md": filled(
            "docs/refusing.md", {"figures": figures([json.loads(file.read_text("utf-8")) for file in files])}
        )
    }


def figures(records: list[dict[str, Any]]) -> str:
    """Return a row for each stream and method."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["stream"], record["method"]), []).append(record)
    rows = []
    for (stream, method), group in sorted(groups.items()):
        last = [record["last"] for record in group]
        covered = [_percent([each[f"coverage {asked}"] for each in last]) for asked in ("0.8", "0.9", "0.95")]
        told = [_percent([part[name] for one in group for part in one["after"] if name in part]) for name in NOVELTY]
        size = f"{statistics.fmean(each['labels 0.9'] for each in last):.2f}"
        accuracy = _percent([each["accuracy"] for each in last])
        rows.append((stream, f"`{method}`", str(len(group)), accuracy, *covered, size, *told))
    return table(HEADINGS, rows) if rows else NOTHING


def _percent(values: list[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f}" if values else "–"
