"""What a reader should see first: key figures of a stream, its table of results, and all streams side by side."""

from __future__ import annotations

from typing import Any

from merlin_cl.report.diagnosis import CONTROL
from merlin_cl.report.text import signed

Content = dict[str, Any]
OURS = "merlin"
VIEWS = {
    "class-incremental": "choose among all classes seen so far",
    "task-masked": "choose among the classes of the example's own task",
    "domain-incremental": "all tasks share their classes",
}


def headline(stream: Content) -> Content:
    """The tiles and the table of a stream; `view` is the one that the paper scored, or the first there is."""
    series = [one for experiment in stream["experiments"] for one in experiment["series"]]
    blind = [one for one in series if one["inference"] != "aware"]
    view = next((one["view"] for one in blind if one["paper"]), stream["views"][0])
    return {
        "view": view,
        **_lead([one for one in blind if one["view"] == view and one["finished"]]),
        "tables": [
            {
                "view": each,
                "about": VIEWS.get(each, ""),
                "rows": _ordered([one for one in series if one["view"] == each]),
            }
            for each in sorted(stream["views"], key=lambda each: each != view)
        ],
    }


def overview(streams: list[Content]) -> Content | None:
    """Methods by streams, each with its best answer that is not told the task; None where there is one stream only."""
    if len(streams) < 2:
        return None
    cells: dict[str, dict[str, Content]] = {}
    for stream in streams:
        for experiment in stream["experiments"]:
            fitting = [
                one
                for one in experiment["series"]
                if one["view"] == stream["headline"]["view"] and one["inference"] != "aware" and one["finished"]
            ]
            if fitting:
                best = max(fitting, key=lambda one: one["average"]["mean"])
                cells.setdefault(experiment["label"], {})[stream["id"]] = best
    leaders = {
        stream["id"]: max(
            (row[stream["id"]]["average"]["mean"] for row in cells.values() if stream["id"] in row), default=None
        )
        for stream in streams
    }
    rows = [{"label": label, "slot": next(iter(row.values()))["slot"], "cells": row} for label, row in cells.items()]
    return {"rows": sorted(rows, key=lambda row: row["slot"]), "leaders": leaders}


def _ordered(rows: list[Content]) -> list[Content]:
    """Ours, the control, then the others, best first; the best that is not told the task is marked."""
    blind = [one["average"]["mean"] for one in rows if one["inference"] != "aware" and one["finished"]]
    for one in rows:
        one["best"] = bool(blind) and one["inference"] != "aware" and one["average"]["mean"] == max(blind)
    rank = {OURS: 0, CONTROL: 1}
    return sorted(
        rows,
        key=lambda one: (rank.get(one["method"], 2), one["slot"] * (one["method"] in rank), -one["average"]["mean"]),
    )


def _lead(rows: list[Content]) -> Content:
    """Ours if it is there, the best otherwise, and its figures: accuracy, what it has above the control, what it costs."""
    if not rows:
        return {"lead": None, "tiles": []}
    lead = max([one for one in rows if one["label"] == OURS] or rows, key=lambda one: one["average"]["mean"])
    tiles: list[Content] = [{"title": "average incremental accuracy", "estimate": lead["average"], "unit": "%"}]
    if lead["paper"]:
        tiles[0]["more"] = (
            f"paper {lead['paper']['mean']:g} ({signed(lead['average']['mean'] - lead['paper']['mean'])})"
        )
    if lead["above_control"]:
        tiles.append({"title": f"above {CONTROL}", "estimate": lead["above_control"], "signed": True, "unit": "points"})
    tiles.append({"title": "accuracy after the last task", "estimate": lead["final"], "unit": "%"})
    if lead["forgetting"]:
        tiles.append({"title": "forgetting", "estimate": lead["forgetting"], "unit": "points"})
    tiles.append({"title": "kept between tasks", "bytes": lead["stored"], "seconds": lead["seconds"]})
    return {"lead": lead, "tiles": tiles}
