"""What an unfinished run has found, in the shape of a result: put together from its configuration and its events."""

from collections.abc import Callable, Iterator
from typing import Any

from merlin_cl.learners.means import means_of
from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.report.summary import Result
from merlin_cl.runs.calibration import AFTER_EACH_TASK, AT_THE_END, Record, uncertainty_of

Event = dict[str, Any]
Question = tuple[str, str | None]
"""A view and an inference mode."""
MEASURED = (*AFTER_EACH_TASK, *AT_THE_END)


def partial_result(config: dict[str, Any], events: list[Event]) -> Result:
    """As result.json will be, for the tasks done; what only a finished run knows, such as its cost, is empty."""
    rows, worth = _rows(events), _uncertainties(events)
    done = min((len(row) for row in rows.values()), default=0)
    return {
        "stream": config["stream"]["name"],
        "method": config["method"]["name"],
        **{name: config[name] for name in ("preset", "seed", "source", "fingerprint", "batch_size")},
        "tasks": done,
        "exemplars": config["method"].get("exemplars"),
        "updates_per_batch": config["method"].get("updates_per_batch"),
        "means": means_of(config["method"], config["stream"]["name"]),
        "settings": {key: config[key] for key in ("stream", "method", "inference", "device", "threads")},
        "scores": [_score(question, matrix[:done], worth(question, done)) for question, matrix in rows.items()]
        if done
        else [],
        "diagnosis": {"learned": _learned(events, done), "final": [None] * done},
        "parameters": {},
        "cost": {"cpu_seconds": {}, "peak_rss_bytes": 0, "stored_bytes": {}},
    }


def _rows(events: list[Event]) -> dict[Question, list[list[float]]]:
    """For every view and inference mode the rows of the matrix; of a row written twice, after a kill, the last holds."""
    rows: dict[Question, dict[int, list[float]]] = {}
    for event in events:
        if event["event"] == "accuracy":
            rows.setdefault((event["view"], event["inference"]), {})[event["after_task"]] = event["row"]
    return {question: [*_from_the_first(by_task)] for question, by_task in rows.items()}


def _from_the_first(by_task: dict[int, list[float]]) -> Iterator[list[float]]:
    """The rows up to the first that is missing."""
    for task in range(len(by_task)):
        if task not in by_task:
            return
        yield by_task[task]


def _uncertainties(events: list[Event]) -> Callable[[Question, int], Record | None]:
    """What gives, for a view and inference mode and so many tasks, the entry `uncertainty` of its score."""
    figures: dict[Question, dict[int, Record]] = {}
    others: dict[Question, Record] = {}
    for event in events:
        if event["event"] == "calibration":
            of_question = figures.setdefault((event["view"], event["inference"]), {})
            of_question[event["after_task"]] = {name: event[name] for name in MEASURED if name in event}
        elif event["event"] == "other_kinds":
            others[event["view"], event["inference"]] = event["auroc"]

    def entry(question: Question, tasks: int) -> Record | None:
        return uncertainty_of([figures.get(question, {}).get(task) for task in range(tasks)], others.get(question))

    return entry


def _score(question: Question, rows: list[list[float]], uncertainty: Record | None) -> dict[str, Any]:
    matrix = [[*row, *[None] * (len(rows) - len(row))] for row in rows]
    return {
        "view": question[0],
        "inference": question[1],
        **{name: metric(matrix) for name, metric in METRICS.items()},
        "learning_curve": learning_curve(matrix),
        "matrix": matrix,
        "uncertainty": uncertainty,
    }


def _learned(events: list[Event], done: int) -> list[dict[str, float] | None]:
    """What the learner said of each task right after learning it: the first time, as at the end it is asked again."""
    measured: dict[int, dict[str, float]] = {}
    for event in events:
        if event["event"] == "probe" and event["task"] == event["after_task"]:
            measured.setdefault(event["task"], event["values"])
    return [measured.get(task) for task in range(done)]
