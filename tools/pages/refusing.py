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
CAUSES = (
    "stream",
    "method",
    "held back:",
    "training images at 80 %:",
    "at 90 %:",
    "at 95 %:",
    "a run's deviation at 90 %:",
    "by chance:",
    "farthest run at any:",
)
ASKED = ("0.8", "0.9", "0.95")
NOVELTY = ("auroc", "auroc of confidence")


def pages() -> dict[str, str]:
    """Return the page."""
    files = sorted((ROOT / "results" / "refusing").glob("*.json"))
    records = [json.loads(file.read_text("utf-8")) for file in files]
    return {"docs/refusing.md": filled("docs/refusing.md", {"figures": figures(records), "causes": causes(records)})}


def figures(records: list[dict[str, Any]]) -> str:
    """Return a row for each stream and method: what sets cover, and how strange what is new is."""
    rows = []
    for (stream, method), group in _groups(records):
        last = [record["last"] for record in group]
        covered = [_percent([each[f"coverage {asked}"] for each in last]) for asked in ASKED]
        told = [_percent([part[name] for one in group for part in one["after"] if name in part]) for name in NOVELTY]
        size = f"{statistics.fmean(each['labels 0.9'] for each in last):.2f}"
        accuracy = _percent([each["accuracy"] for each in last])
        rows.append((stream, f"`{method}`", str(len(group)), accuracy, *covered, size, *told))
    return table(HEADINGS, rows) if rows else NOTHING


def causes(records: list[dict[str, Any]]) -> str:
    """Return a row for each stream and method: coverage of training images, and how far single runs are from what was asked."""
    rows = []
    for (stream, method), group in _groups(records):
        last = [record["last"] for record in group]
        key = "coverage {} in training"
        training = [
            _percent([each[key.format(asked)] for each in last if key.format(asked) in each]) for asked in ASKED
        ]
        held = f"{statistics.fmean(each['held'] for each in last):,.0f}"
        deviation = statistics.fmean((each["coverage 0.9"] - 0.9) ** 2 for each in last) ** 0.5
        chance = statistics.fmean(0.9 * 0.1 * (1 / each["held"] + 1 / each["asked"]) for each in last) ** 0.5
        farthest = max(abs(each[f"coverage {asked}"] - float(asked)) for each in last for asked in ASKED)
        points = [f"{100 * value:.1f}" for value in (deviation, chance, farthest)]
        rows.append((stream, f"`{method}`", held, *training, *points))
    return table(CAUSES, rows) if rows else NOTHING


def _groups(records: list[dict[str, Any]]) -> list[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """The runs of each stream and method, in order."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["stream"], record["method"]), []).append(record)
    return sorted(groups.items())


def _percent(values: list[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f}" if values else "–"
