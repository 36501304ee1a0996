"""The VAE's losses while a run learned, as its log has them."""

from merlin_cl.metrics import mean
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.losses import loss_curves

Curves = dict[str, dict[int, list[float]]]
"""By kind of loss and task: the loss at every step, or pass."""


def curves_with_total(folder: RunFolder) -> Curves:
    """All loss curves of a run, and their sum where there are several with as many steps."""
    curves: Curves = {}
    for (kind, task), curve in loss_curves(folder.events()).items():
        curves.setdefault(kind, {})[task] = curve
    if len(curves) > 1 and len({len(curve) for by_task in curves.values() for curve in by_task.values()}) == 1:
        tasks = set.intersection(*(set(by_task) for by_task in curves.values()))
        curves["total"] = {
            task: [sum(values) for values in zip(*(by_task[task] for by_task in curves.values()), strict=True)]
            for task in sorted(tasks)
        }
    return curves


def ends(curves: Curves) -> dict[str, float]:
    """The mean over tasks of every loss at its first and at its last step.

    >>> ends({"total": {0: [4.0, 1.0], 1: [2.0, 1.0]}})
    {'total, first step': 3.0, 'total, last step': 1.0}
    """
    return {
        f"{kind}, {place} step": mean([curve[at] for curve in by_task.values()])
        for kind, by_task in curves.items()
        for place, at in (("first", 0), ("last", -1))
    }
