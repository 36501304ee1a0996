"""The events of a run that can be shown: those that have all that their kind has. A line that is spoiled spoils no other."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from merlin_cl.runs.calibration import AFTER_EACH_TASK

Event = dict[str, Any]


def whole(events: Iterable[Event]) -> list[Event]:
    """The events with a time, and with what belongs to their kind; those of an unknown kind as they are."""
    return [event for event in events if _has_time(event) and KINDS.get(str(event.get("event")), _any)(event)]


def _any(event: Event) -> bool:
    return isinstance(event.get("event"), str)


def _begun(event: Event) -> bool:
    return _is_count(event.get("tasks"))


def _task(event: Event) -> bool:
    return _is_count(event.get("task"))


def _question(event: Event) -> bool:
    return isinstance(event.get("view"), str) and isinstance(event.get("inference"), str | None)


def _accuracy(event: Event) -> bool:
    """A row of the matrix, one number for each task learned."""
    after: Any = event.get("after_task")
    row: Any = event.get("row")
    return (
        _question(event)
        and _is_count(after)
        and _is_numbers(row)
        and all(0 <= value <= 100 for value in row)
        and len(row) == after + 1
    )


def _calibration(event: Event) -> bool:
    measured = [event.get(name) for name in AFTER_EACH_TASK]
    return _question(event) and _is_count(event.get("after_task")) and _is_numbers(measured)


def _other_kinds(event: Event) -> bool:
    return _question(event) and isinstance(event.get("auroc"), dict)


def _probe(event: Event) -> bool:
    values = event.get("values")
    counted = _is_count(event.get("task")) and _is_count(event.get("after_task"))
    return counted and isinstance(values, dict) and _is_numbers(list(values.values()))


def _losses(event: Event) -> bool:
    curves = event.get("curves")
    return _task(event) and isinstance(curves, dict) and all(map(_is_numbers, curves.values()))


KINDS: dict[str, Callable[[Event], bool]] = {
    "started": _begun,
    "resumed": _begun,
    "task": _task,
    "accuracy": _accuracy,
    "calibration": _calibration,
    "other_kinds": _other_kinds,
    "probe": _probe,
    "losses": _losses,
}


def _has_time(event: Event) -> bool:
    try:
        return datetime.fromisoformat(event["time"]).tzinfo is not None
    except (KeyError, TypeError, ValueError):
        return False


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000


def _is_numbers(values: Any) -> bool:
    """A list of numbers; a curve that diverged may hold NaN."""
    return isinstance(values, list) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )
