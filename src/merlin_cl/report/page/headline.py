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
                "rows": ordered([one for one in series if one["view"] == each and one["finished"]]),
                "unfinished": [one for one in series if one["view"] == each and not one["finished"]],
            }
            for each in sorted(stream["views"], key=lambda each: each != view)
        ],
    }


def headline_view(stream: Content) -> str:
    """The view that the paper scored, or the first there is."""
    series = [one for experiment in stream["experiments"] for one in experiment["series"]]
    views = (one["view"] for one in series if one["paper"] and one["inference"] != "aware")
    view: str = next(views, stream["views"][0])
    return view


def ordered(series: list[Content]) -> list[Content]:
    """By accuracy, the best first; then what is told the task, then ceilings."""
    return sorted(series, key=lambda one: (LAST.get(one["apart"], 0), -one["average"]["mean"]))
