"""Loss curves of a run: what its learner told while it trained, one curve a task and kind of loss."""

import math
from typing import Any

from merlin_cl.report.page.sources import Run
from merlin_cl.runs.losses import loss_curves

POINTS = 120
"""At most so many of a curve: more than a figure can show."""


def drawn_losses(run: Run) -> list[dict[str, Any]]:
    """Curves to draw, in the order in which they were learned. Where a loss was not finite there is nothing to draw."""
    return [
        {"kind": kind, "task": task, "steps": len(values), "points": thinned(values)}
        for (kind, task), curve in loss_curves(run.events).items()
        if (values := [value for value in curve if math.isfinite(value)])
    ]


def thinned(values: list[float]) -> list[list[float]]:
    """A curve as (step, value): the mean of every few steps where it has more than `POINTS`, put in their middle.

    >>> thinned([3.0, 2.0, 1.0])
    [[1, 3.0], [2, 2.0], [3, 1.0]]
    """
    size = -(-len(values) // POINTS)
    points = []
    for start in range(0, len(values), size):
        part = values[start : start + size]
        middle = start + (len(part) + 1) / 2
        points.append([middle if size > 1 else start + 1, float(f"{sum(part) / len(part):.5g}")])
    return points
