"""How far runs and grids have come, and how much longer they take: read from their folders alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.report.page.sources import Run
from merlin_cl.runs.folder import RunFolder, read_json
from merlin_cl.runs.progress import Forecast

GRID = "grid.json"
STATUSES = ("queued", "running", "done", "failed")
Clock = Callable[[], float]


def run_progress(run: Run, busy: bool, clock: Clock = time.time) -> dict[str, Any]:
    """State, tasks done and in all, seconds gone and left (None: nobody can tell yet)."""
    tasks, taken, begun = _tasks(run.events)
    state, reason = ("finished", "") if run.finished else state_of(run.events, busy)
    forecast = Forecast(tasks, taken, clock)
    forecast.task_begun = begun if begun is not None else clock()
    running = state == "running"
    current = max(0.0, clock() - forecast.task_begun) if running and begun is not None else 0.0
    return {
        "name": run.name,
        "stream": run.result["stream"],
        "method": run.result["method"],
        "seed": run.seed,
        "state": state,
        "reason": reason,
        "done": tasks if run.finished else len(taken),
        "tasks": tasks,
        "elapsed": round(sum(taken) + current, 1),
        "left": forecast.left() if running else None,
    }


def grid_progress(root: Path) -> dict[str, Any] | None:
    """The runs of the grid in a folder, counted by status, how much longer they take, and why some failed."""
    path = root / GRID
    try:
        record = read_json(path) if path.is_file() else {}
    except (MerlinError, OSError):
        return None
    listed, left = record.get("runs"), record.get("seconds_left")
    runs = [run for run in listed if isinstance(run, dict)] if isinstance(listed, list) else []
    if not runs:
        return None
    return {
        "name": root.resolve().name,
        "total": len(runs),
        **{status: sum(run.get("status") == status for run in runs) for status in STATUSES},
        "left": left if isinstance(left, int | float) else None,
        "failures": [
            {
                "name": _called(run),
                "reason": str(run.get("reason") or ""),
                "tries": tries if isinstance(tries := run.get("tries"), int) else None,
            }
            for run in runs
            if run.get("status") == "failed"
        ],
    }


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _called(run: dict[str, Any]) -> str:
    """A run of a grid by its folder, or by what it is while it has none."""
    return str(run.get("run") or f"{run.get('method')} on {run.get('stream')}, seed {run.get('seed')}")


def busy(path: Path) -> bool:
    """Whether a process is working on the run in a folder."""
    return path.is_dir() and RunFolder(path).busy


def state_of(events: list[dict[str, Any]], busy: bool) -> tuple[str, str]:
    """What a run that is not finished is doing, by its events and whether a process works on it, and why it has ended."""
    if busy:
        return "running", ""
    last = events[-1] if events else {}
    if last.get("event") == "failed":
        return "failed", str(last.get("error", ""))
    if last.get("event") == "stopped":
        return "stopped", "by its user"
    return "interrupted", "its process ended without a word"


def _tasks(events: list[dict[str, Any]]) -> tuple[int, list[float], float | None]:
    """Tasks in all, the seconds each task done took, and when the current one began."""
    total, begun, current, taken = 0, {}, None, {}
    for event in events:
        if event["event"] in ("started", "resumed"):
            total, current = event["tasks"], None
        elif event["event"] == "task":
            current = event["task"]
            begun[current] = _seconds(event)
        elif event["event"] == "checkpoint" and current is not None:
            taken[current] = round(_seconds(event) - begun[current], 3)
            current = None
    return total, [taken[task] for task in sorted(taken)], None if current is None else begun[current]


def _seconds(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()
