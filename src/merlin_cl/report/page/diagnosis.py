"""MERLIN's diagnosis over all seeds: does the weight distribution hold the tasks, or do the exemplars?"""

from __future__ import annotations

import math
from typing import Any

from merlin_cl.metrics import ENOUGH_SEEDS
from merlin_cl.report.diagnosis import CONTROL
from merlin_cl.report.diagnosis_verdict import Knowledge, judge
from merlin_cl.report.page.estimates import Estimate, estimate_or_none
from merlin_cl.report.page.experiments import RunGroup, StreamGroup
from merlin_cl.report.text import signed, size

ANY = (-math.inf, math.inf)
"""Probes are of many kinds; not all are percentages."""

Verdict = dict[str, str]
"""question, answer, tone (good, mixed or bad) and the figures it rests on."""


def diagnosis_of(
    group: StreamGroup, experiment: RunGroup, series: list[dict[str, Any]], classes: list[int] | None
) -> dict[str, Any] | None:
    """The learner's own probes by task, and what they say in words; None where the method has no probes.

    `classes` is how many each task has, where that is known.
    """
    tasks = [_probes(experiment, task) for task in range(experiment.tasks)]
    if not any(probe["learned"] or probe["final"] for probe in tasks):
        return None
    control = group.control_of(experiment) if experiment.finished else None
    names = list(dict.fromkeys(name for probe in tasks for when in ("learned", "final") for name in probe[when]))
    chart = _chart(tasks, experiment, control) if {"base_ensemble", "sampled_ensemble"} <= set(names) else None
    verdicts = [
        *(_holds(chart, classes) if chart and experiment.finished else []),
        *(_teaches(series) if control is not None else []),
        *(_weighs(experiment) if experiment.finished else []),
    ]
    return {"label": experiment.label, "names": names, "tasks": tasks, "chart": chart, "verdicts": verdicts}


def _probes(experiment: RunGroup, task: int) -> dict[str, Any]:
    """What was measured of a task right after learning it and at the end, over seeds."""
    figures: dict[str, Any] = {"task": task}
    for when in ("learned", "final"):
        of_seeds = [result["diagnosis"][when][task] or {} for result in experiment.results]
        names = dict.fromkeys(name for values in of_seeds for name in values)
        figures[when] = {name: estimate_or_none([values.get(name) for values in of_seeds], ANY) for name in names}
    return figures


def _chart(tasks: list[dict[str, Any]], experiment: RunGroup, control: RunGroup | None) -> list[dict[str, Any]]:
    """For every task, side by side: base models, sampled models when learned and at the end, and the control.

    Probes choose among the classes of their task, so the control is taken under the view that does so, too.
    """
    return [
        {
            "task": probe["task"],
            "base": probe["learned"].get("base_ensemble"),
            "sampled": probe["learned"].get("sampled_ensemble"),
            "kept": probe["final"].get("sampled_ensemble"),
            "control": None if control is None else _at_the_end(control, probe["task"]),
        }
        for probe in tasks
    ]


def _at_the_end(experiment: RunGroup, task: int) -> Estimate | None:
    place = next((at for at, row in enumerate(experiment.rows) if row.view != "class-incremental"), None)
    if place is None:
        return None
    return estimate_or_none([result["scores"][place]["matrix"][-1][task] for result in experiment.results])


def _holds(chart: list[dict[str, Any]], classes: list[int] | None) -> list[Verdict]:
    """Whether models sampled at the end know what the base models knew: judged as `merlin diagnose` does, over all seeds."""
    if not all(task["base"] and task["sampled"] and task["kept"] for task in chart):
        return []
    known = [
        Knowledge(
            task["task"],
            base=task["base"]["mean"],
            learned=task["sampled"]["mean"],
            final=task["kept"]["mean"],
            chance=None if classes is None else 100 / classes[task["task"]],
            control=task["control"]["mean"] if task["control"] else None,
            relative_error=None,
            base_diversity=None,
            learned_diversity=None,
            final_diversity=None,
        )
        for task in chart
    ]
    verdict = judge(known)
    if verdict is None:
        return []
    answer, tone = {"held": ("Yes", "good"), "faded": ("In part", "mixed")}.get(verdict.word, ("No", "bad"))
    base, final = (sum(getattr(task, name) for task in known) / len(known) for name in ("base", "final"))
    return [
        {
            "question": "Does the weight distribution hold the tasks?",
            "answer": answer,
            "tone": tone,
            "detail": (
                f"{'; '.join(verdict.sentences).capitalize()}. On average sampled models, not fine-tuned, end at {final:.1f} %; "
                f"base models had {base:.1f} % when they learned."
            ),
        }
    ]


def _teaches(series: list[dict[str, Any]]) -> list[Verdict]:
    """Whether the stream taught more than the exemplars alone do, for the best answer that is not told the task."""
    blind = [one for one in series if one["above_control"] and one["inference"] != "aware"]
    if not blind:
        return []
    # The view under which the task is least given away: the first of a stream.
    view = blind[0]["view"]
    best = max((one for one in blind if one["view"] == view), key=lambda one: one["average"]["mean"])
    above = best["above_control"]
    mode = f" ({best['inference']})" if best["inference"] else ""
    if above["low"] is None:
        answer, tone, sure = (
            "Not known",
            "mixed",
            f"{above['seeds']} of the {ENOUGH_SEEDS} seeds that an interval needs",
        )
    else:
        answer, tone = (
            ("Yes", "good") if above["low"] > 0 else ("No", "bad") if above["high"] < 0 else ("Unclear", "mixed")
        )
        sure = f"95 % interval {signed(above['low'])} to {signed(above['high'])}, {above['seeds']} seeds"
    return [
        {
            "question": "Does the stream teach it more than the exemplars do?",
            "answer": answer,
            "tone": tone,
            "detail": (
                f"Its average incremental accuracy, {view}{mode}, is {abs(above['mean']):.2f} points "
                f"{'above' if above['mean'] >= 0 else 'below'} that of {CONTROL}, which sees the same exemplars and nothing "
                f"else ({sure})."
            ),
        }
    ]


def _weighs(experiment: RunGroup) -> list[Verdict]:
    """What is kept between tasks, beside the size of one classifier."""
    stored: dict[str, float] = experiment.results[0]["cost"]["stored_bytes"] or {}
    classifier = 4 * experiment.results[0]["parameters"].get("classifier", 0)
    exemplars = stored.get("exemplars", 0)
    rest = sum(stored.values()) - exemplars
    if not classifier or not stored:
        return []
    answer, tone = ("Yes", "good") if rest <= classifier else ("No", "mixed")
    return [
        {
            "question": "Is what it keeps lighter than one classifier?",
            "answer": answer,
            "tone": tone,
            "detail": (
                f"{size(rest)} besides {size(exemplars)} of exemplars; one classifier of 32-bit numbers takes "
                f"{size(classifier)}."
            ),
        }
    ]
