"""The losses that a learner told of while it trained, as a run's log has them."""

from collections.abc import Iterable, Mapping
from typing import Any

LossCurves = dict[tuple[str, int], list[float]]
"""By kind of loss and task: the loss at every step, or pass."""


def loss_curves(events: Iterable[Mapping[str, Any]]) -> LossCurves:
    """All loss curves in the order in which they were learned; of a task learned twice, after a kill, the last.

    >>> told = {"event": "losses", "task": 0, "curves": {"vae": [2.0, 1.0]}}
    >>> loss_curves([told, {"event": "task", "task": 0}, told | {"curves": {"vae": [2.5, 0.5]}}])
    {('vae', 0): [2.5, 0.5]}
    """
    return {
        (kind, event["task"]): curve
        for event in events
        if event["event"] == "losses"
        for kind, curve in event["curves"].items()
    }
