"""What a result must hold before anybody shows it: one that was cut, edited or written by something else is told of in words."""

from typing import Any

from merlin_cl.metrics import METRICS
from merlin_cl.runs.calibration import AFTER_EACH_TASK, COVERED

Result = dict[str, Any]

MOST_TASKS = 10_000
LARGEST = 1e18
"""Beyond any number of bytes or seconds, and far from what a float cannot hold."""


class FaultError(Exception):
    """Something in a result is not as it should be; the text says what, in a few words."""


def check(result: object, *, finished: bool = True) -> None:
    """Raise FaultError where a result cannot be shown; one that is not finished may have no scores yet."""
    if not isinstance(result, dict):
        raise FaultError("it is no JSON object")
    for name in ("stream", "method", "preset", "source"):
        _expect(isinstance(result.get(name), str), name, "text")
    for name in ("seed", "batch_size"):
        _expect(_is_count(result.get(name)), name, "a whole number")
    for name in ("exemplars", "updates_per_batch"):
        _expect(result.get(name) is None or _is_count(result[name]), name, "a whole number or null")
    tasks: Any = result.get("tasks")
    _expect(_is_count(tasks) and tasks <= MOST_TASKS and (tasks > 0 or not finished), "tasks", "a number of tasks")
    _check_settings(result.get("settings"))
    scores: Any = result.get("scores")
    _expect(isinstance(scores, list) and (scores or not finished), "scores", "a list that is not empty")
    for place, score in enumerate(scores):
        _check_score(score, f"scores[{place}]", tasks)
    _check_diagnosis(result.get("diagnosis"), tasks)
    _expect(_is_numbers(result.get("parameters")), "parameters", "numbers by name")
    cost: Any = result.get("cost")
    _expect(isinstance(cost, dict), "cost", "an object")
    _expect(_is_numbers(cost.get("cpu_seconds")), "cost.cpu_seconds", "numbers by name")
    _expect(
        cost.get("stored_bytes") is None or _is_numbers(cost["stored_bytes"]), "cost.stored_bytes", "numbers by name"
    )
    _expect(_is_number(cost.get("peak_rss_bytes")), "cost.peak_rss_bytes", "a number")
    _expect(cost.get("held_bytes") is None or _is_number(cost["held_bytes"]), "cost.held_bytes", "a number")


def _check_settings(settings: object) -> None:
    _expect(isinstance(settings, dict), "settings", "an object")
    assert isinstance(settings, dict)
    for name in ("stream", "method"):
        part: Any = settings.get(name)
        _expect(
            isinstance(part, dict) and isinstance(part.get("name"), str), f"settings.{name}", "an object with a name"
        )
        _expect(isinstance(part.get("kind", ""), str), f"settings.{name}.kind", "text")
    for name, kind in (("inference", str), ("device", str), ("threads", int)):
        _expect(isinstance(settings.get(name), kind), f"settings.{name}", kind.__name__)


def _check_score(score: object, where: str, tasks: int) -> None:
    _expect(isinstance(score, dict), where, "an object")
    assert isinstance(score, dict)
    _expect(isinstance(score.get("view"), str), f"{where}.view", "text")
    _expect(isinstance(score.get("inference"), str | None), f"{where}.inference", "text or null")
    for name in METRICS:
        least = name in ("average_incremental_accuracy", "final_accuracy")
        value = score.get(name)
        _expect(name in score and (_is_number(value) or (value is None and not least)), f"{where}.{name}", "a number")
    if score.get("uncertainty") is not None:
        _check_uncertainty(score["uncertainty"], f"{where}.uncertainty", tasks)
    curve: Any = score.get("learning_curve")
    matrix: Any = score.get("matrix")
    _expect(_is_accuracies(curve, tasks), f"{where}.learning_curve", f"{tasks} percentages")
    _expect(isinstance(matrix, list) and len(matrix) == tasks, f"{where}.matrix", f"{tasks} rows")
    for task, row in enumerate(matrix):
        _expect(
            isinstance(row, list) and len(row) == tasks and _is_accuracies(row[: task + 1], task + 1),
            f"{where}.matrix[{task}]",
            f"{task + 1} percentages, then null",
        )
        _expect(all(value is None for value in row[task + 1 :]), f"{where}.matrix[{task}]", "null for tasks to come")


def _check_uncertainty(record: object, where: str, tasks: int) -> None:
    """A curve for each measure; None for tasks of which an older version measured nothing, but for the last."""
    _expect(isinstance(record, dict), where, "an object or null")
    assert isinstance(record, dict)
    for name in AFTER_EACH_TASK:
        curve: Any = record.get(name)
        _expect(
            isinstance(curve, list)
            and len(curve) == tasks
            and all(value is None or _is_number(value) for value in curve)
            and _is_number(curve[-1]),
            f"{where}.{name}",
            f"{tasks} numbers",
        )
    if "risks" in record:
        _expect(_is_accuracies(record["risks"], len(COVERED)), f"{where}.risks", f"{len(COVERED)} percentages")
        _expect(_is_number(record.get("risk_area")), f"{where}.risk_area", "a number")
    other: Any = record.get("other", {})
    told = isinstance(other, dict) and all(_is_numbers(values) for values in other.values())
    _expect(told, f"{where}.other", "numbers by kind of input and of uncertainty")


def _check_diagnosis(diagnosis: object, tasks: int) -> None:
    _expect(isinstance(diagnosis, dict), "diagnosis", "an object")
    assert isinstance(diagnosis, dict)
    for when in ("learned", "final"):
        probes = diagnosis.get(when)
        _expect(
            isinstance(probes, list)
            and len(probes) == tasks
            and all(probe is None or _is_numbers(probe) for probe in probes),
            f"diagnosis.{when}",
            f"{tasks} objects of numbers, or null",
        )


def _expect(holds: object, where: str, what: str) -> None:
    if not holds:
        raise FaultError(f"{where} is not {what}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST < value < LARGEST


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_accuracies(values: object, length: int) -> bool:
    percentages = isinstance(values, list) and all(_is_number(value) and 0 <= value <= 100 for value in values)
    return isinstance(values, list) and percentages and len(values) == length


def _is_numbers(values: object) -> bool:
    return isinstance(values, dict) and all(_is_number(value) for value in values.values())
