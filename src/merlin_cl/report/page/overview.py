"""All streams side by side: accuracies of methods by streams, and mean ranks over those streams that methods share."""

from __future__ import annotations

from typing import Any

from merlin_cl.metrics.ranks import cliques, complete_block, critical_difference, mean_ranks
from merlin_cl.report.page.headline import headline_view

Content = dict[str, Any]
FEW_STREAMS = 5
"""Below so many, mean ranks tell hardly any two methods apart, and the page says so."""


def overview(streams: list[Content]) -> Content | None:
    """What methods reached on every stream, and their mean ranks; None where there is one stream only."""
    if len(streams) < 2:
        return None
    cells: dict[str, Content] = {}
    for stream in streams:
        view = headline_view(stream)
        for experiment in stream["experiments"]:
            for one in experiment["series"]:
                if one["view"] == view and (one["rank"] is not None or one["apart"] == "ceiling"):
                    row = cells.setdefault(one["label"], {"label": one["label"], "slot": one["slot"], "cells": {}})
                    row["ceiling"] = one["apart"] == "ceiling"
                    row["cells"][stream["id"]] = _cell(one)
    ranked = _mean_ranks([row for row in cells.values() if not row["ceiling"]])
    places = {one["label"]: one["rank"] for one in ranked["methods"]} if ranked else {}
    for row in cells.values():
        row["mean_rank"] = places.get(row["label"])
    _shade(list(cells.values()))
    rows = sorted(cells.values(), key=_order)
    return {
        "columns": [
            {
                "id": stream["id"],
                "title": stream["title"],
                "name": stream["tab"],
                "view": headline_view(stream),
                "changed": bool(stream["changed"]),
            }
            for stream in streams
        ],
        "rows": rows,
        "ranks": ranked,
        "sentence": _sentence(ranked),
    }


def _cell(one: Content) -> Content:
    return {
        "mean": one["average"]["mean"],
        "std": one["average"]["std"],
        "rank": one["rank"],
        "competitors": one["competitors"],
        "seeds": len(one["seeds"]),
    }


def _shade(rows: list[Content]) -> None:
    """How dark each cell is: 1 for the best of its stream, 0 for the worst; ceilings count as no method."""
    for column in {place for row in rows for place in row["cells"]}:
        there = [row["cells"][column] for row in rows if column in row["cells"]]
        scores = [cell["mean"] for cell in there if cell["rank"] is not None] or [cell["mean"] for cell in there]
        low, high = min(scores), max(scores)
        for cell in there:
            share = 1.0 if high == low else (cell["mean"] - low) / (high - low)
            cell["share"] = round(max(0.0, min(1.0, share)), 4)


def _mean_ranks(rows: list[Content]) -> Content | None:
    """Mean ranks over the streams on which all of the methods have a figure, and which of them cannot be told apart."""
    scores = {row["label"]: {place: cell["mean"] for place, cell in row["cells"].items()} for row in rows}
    methods, streams = complete_block(scores)
    if len(methods) < 2:
        return None
    means = mean_ranks({method: [scores[method][stream] for stream in streams] for method in methods})
    order = sorted(means, key=lambda method: means[method])
    slots = {row["label"]: row["slot"] for row in rows}
    difference = critical_difference(len(order), len(streams))
    return {
        "methods": [{"label": label, "slot": slots[label], "rank": round(means[label], 3)} for label in order],
        "streams": streams,
        "difference": round(difference, 3),
        "cliques": cliques([means[label] for label in order], difference),
        "few": len(streams) < FEW_STREAMS,
    }


def _order(row: Content) -> tuple[bool, bool, float, int, float]:
    """By mean rank where there is one; then by how many streams a method was run on, and its share of the best there."""
    shares = [cell["share"] for cell in row["cells"].values()]
    rank = row["mean_rank"]
    return row["ceiling"], rank is None, rank or 0.0, -len(shares), -sum(shares) / len(shares)


def _sentence(ranked: Content | None) -> str:
    """Who leads over the streams that methods share."""
    if ranked is None:
        return ""
    leading = ", ".join(f"{one['label']} {one['rank']:.1f}" for one in ranked["methods"][:3])
    ours = next((place for place, one in enumerate(ranked["methods"]) if one["label"] == "merlin"), None)
    rest = ""
    if ours is not None and ours >= 3:
        rest = f" … merlin {ranked['methods'][ours]['rank']:.1f}"
    shared = f"the {len(ranked['streams'])} streams that {len(ranked['methods'])} methods share"
    alike = next((last for first, last in ranked["cliques"] if first == 0), 0)
    every = alike == len(ranked["methods"]) - 1
    unsure = "; so few streams tell none of them apart" if every else f"; the first {alike + 1} cannot be told apart"
    return f"{leading}{rest} by mean rank over {shared}{unsure if alike else ''}"
