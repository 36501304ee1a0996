"""What a reader should see first of a stream: its ranking in a sentence and its table of results, the best first."""

from __future__ import annotations

from typing import Any

Content = dict[str, Any]
VIEWS = {
    "class-incremental": "choose among all classes seen so far",
    "task-masked": "choose among the classes of the example's own task",
    "domain-incremental": "all tasks share their classes",
}
LAST = {"told the task": 1, "ceiling": 2, "unfinished": 3}
"""What follows the ranking, in this order."""


def headline(stream: Content) -> Content:
    """The sentence and the tables of a stream; `view` is the one that the paper scored, or the first there is."""
    series = [one for experiment in stream["experiments"] for one in experiment["series"]]
    view = headline_view(stream)
    return {
        "view": view,
        "sentence": stream["sentences"].get(view, ""),
        "tables": [
            {
                "view": each,
                "about": VIEWS.get(each, ""),
                "seeds": _seeds([one for one in series if one["view"] == each and one["finished"]]),
                "rows": ordered([one for one in series if one["view"] == each and one["finished"]]),
                "unfinished": [one for one in series if one["view"] == each and not one["finished"]],
            }
            for each in sorted(stream["views"], key=lambda each: each != view)
        ],
    }


def _seeds(series: list[Content]) -> str:
    """How many seeds figures are means over, in words."""
    counts = sorted({len(one["seeds"]) for one in series})
    if not counts or counts == [1]:
        return "one seed each"
    return f"{counts[0]} seeds each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def headline_view(stream: Content) -> str:
    """The view that the paper scored, or the first there is."""
    series = [one for experiment in stream["experiments"] for one in experiment["series"]]
    views = (one["view"] for one in series if one["paper"] and one["inference"] != "aware")
    view: str = next(views, stream["views"][0])
    return view


def ordered(series: list[Content]) -> list[Content]:
    """By accuracy, the best first; then what is told the task, then ceilings."""
    return sorted(series, key=lambda one: (LAST.get(one["apart"], 0), -one["average"]["mean"]))
