"""What an unfinished run has found, in the shape of a result: put together from its configuration and its events."""

from typing import Any

from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.report.summary import Result

Event = dict[str, Any]


def result_so_far(config: dict[str, Any], events: list[Event]) -> Result:
    """As result.json will be, for the tasks done; what only a finished run knows, such as its cost, is empty."""
    rows = _rows(events)
    done = min((len(row) for row in rows.values()), default=0)
    return {
        "stream": config["stream"]["name"],
        "method": config["method"]["name"],
        **{name: config[name] for name in ("preset", "seed", "source", "fingerprint", "batch_size")},
        "tasks": done,
        "exemplars": config["method"].get("exemplars"),
        "updates_per_batch": config["method"].get("updates_per_batch"),
        "settings": {key: config[key] for key in ("stream", "method", "inference", "device", "threads")},
        "scores": [_score(view, inference, matrix[:done]) for (view, inference), matrix in rows.items()]
        if done
        else [],
        "diagnosis": {"learned": _learned(events, done), "final": [None] * done},
        "parameters": {},
        "cost": {"cpu_seconds": {}, "peak_rss_bytes": 0, "stored_bytes": {}},
    }


def _rows(events: list[Event]) -> dict[tuple[str, str | None], list[list[float]]]:
    """For every view and inference mode the rows of the matrix; of a row written twice, after a kill, the last holds."""
    rows: dict[tuple[str, str | None], dict[int, list[float]]] = {}
    for event in events:
        if event["event"] == "accuracy":
            rows.setdefault((event["view"], event["inference"]), {})[event["after_task"]] = event["row"]
    return {question: [found[task] for task in sorted(found)] for question, found in rows.items()}


def _score(view: str, inference: str | None, rows: list[list[float]]) -> dict[str, Any]:
    matrix = [[*row, *[None] * (len(rows) - len(row))] for row in rows]
    return {
        "view": view,
        "inference": inference,
        **{name: metric(matrix) for name, metric in METRICS.items()},
        "learning_curve": learning_curve(matrix),
        "matrix": matrix,
    }


def _learned(events: list[Event], done: int) -> list[dict[str, float] | None]:
    """What the learner said of each task right after learning it: the first time, as at the end it is asked again."""
    found: dict[int, dict[str, float]] = {}
    for event in events:
        if event["event"] == "probe" and event["task"] == event["after_task"]:
            found.setdefault(event["task"], event["values"])
    return [found.get(task) for task in range(done)]
