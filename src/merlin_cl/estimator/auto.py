"""Which method `auto` takes: the one with the best mean rank on data sets of the same kind, if it keeps within the budget.

`preferences.json` has the held-out accuracies of a panel of data sets that are no benchmarks. `experiments/panel_rule.py` writes
it from what `experiments/panel.py` measured; test parts had no say in it.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import input_kind
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.setting_values import hints_of
from merlin_cl.protocol import StreamInfo

Group = dict[str, Any]
"""A kind of input, a scenario, the sets of the panel that are so, and the methods' mean accuracies on them, that of the
best mean rank first."""


class Advice(NamedTuple):
    """A method, and why."""

    method: str
    reason: str


def advised(
    stream: StreamInfo, settings: Iterable[str] = (), budget: int | None = None, as_bytes: bool = False
) -> Advice:
    """The method to take on a stream, among those that have some settings and keep no more than so many kilobytes."""
    group, wanted = group_for(stream), set(settings)
    passed_over: dict[str, int] = {}  # and the kilobytes that each would keep
    for method, accuracy in group["methods"].items():
        if not wanted <= hints_of(method_settings(method)).keys():
            continue
        if budget is not None and (kept := kilobytes(method, stream, as_bytes)) > budget:
            passed_over[method] = kept
            continue
        better = ", ".join(f"{other} would keep {kept:,} kB" for other, kept in passed_over.items())
        without = f"; of those that did better, {better}" if better else ""
        return Advice(method, f"{accuracy:.1f} % in the mean of {described(group)}, where its rank is best{without}.")
    if passed_over:
        least = min(passed_over, key=passed_over.__getitem__)
        raise UsageError(
            f"budget is {budget} kB, but the least that a method keeps here are the {passed_over[least]:,} kB of {least}; "
            "allow as many, or name a method."
        )
    raise UsageError(
        f"No method has all of the settings {', '.join(sorted(wanted))}; name a method that has those you need."
    )


def described(group: Group) -> str:
    """The data sets that a group rests on, in words."""
    kind, count = group["kind"], len(group["sets"])
    sharing = {
        "class-incremental": "that bring new classes",
        "domain-incremental": "that share their classes",
        "any": "",
    }
    return f"{count} data sets of {kind} {sharing[group['scenario']]}".rstrip()


def group_for(stream: StreamInfo) -> Group:
    """The sets of the panel that are most like a stream: of its kind and scenario, of its kind, or all."""
    scenario = "domain-incremental" if stream.domain_incremental else "class-incremental"
    groups = {(group["kind"], group["scenario"]): group for group in preferences()}
    nearest = ((input_kind(stream), scenario), (input_kind(stream), "any"), ("any kind", "any"))
    return next(groups[key] for key in nearest if key in groups)


def kilobytes(method: str, stream: StreamInfo, as_bytes: bool) -> int:
    """What a method comes to keep between tasks on a stream, about: all that it has at once, exemplars, and what it reserves."""
    settings = method_settings(method).preset("default", stream)
    learner = settings.build(stream, 0)
    exemplars = getattr(settings, "exemplars", 0) * math.prod(stream.input_shape) * (1 if as_bytes else 4)
    return math.ceil((sum(learner.stored_bytes().values()) + learner.reserved_bytes + exemplars) / 1000)


@functools.cache
def preferences() -> list[Group]:
    """The groups of the panel."""
    groups: list[Group] = json.loads((files(__package__) / "preferences.json").read_text("utf-8"))
    return groups
