"""Whether a learner is less sure of inputs of another kind than of its stream's own, asked once, at the end of the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.uncertainty import entropy
from merlin_cl.metrics.uncertainty import auroc
from merlin_cl.protocol import Inference
from merlin_cl.runs.calibration import Record
from merlin_cl.runs.evaluate import Question

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

INPUTS = 2000
"""Inputs of each kind at most, the stream's own among them: enough to tell an AUROC of 90 from one of 91 %."""

Parts = list[Tensor]
"""Inputs for each task, shown as the task shows its own."""


def detection(
    learner: Learner[Any], stream: Stream, asked: list[Question], say: Callable[[str], None]
) -> dict[Question, Record]:
    """For every question that has no mask but the task it is told: AUROCs in percent, by kind of input and of uncertainty.

    `total` is the entropy of the answer, `epistemic` what members disagree on, where there are members. Inputs of another kind
    are divided among the tasks, each part shown as its task shows inputs (in its own order of pixels, say).
    """
    if not learner.gives_probabilities:
        return {}
    known = [task.test_sample(INPUTS // len(stream) or 1) for task in stream]
    others = dict(_others(stream, say))
    records: dict[Question, Record] = {}
    for question in asked:
        if question.view != "task-masked" or question.inference == "aware":
            usual = _uncertainties(learner, known, question.inference)
            records[question] = {
                kind: {
                    name: round(100 * auroc(usual[name], values), 4)
                    for name, values in _uncertainties(learner, parts, question.inference).items()
                }
                for kind, parts in others.items()
            }
    return records


def _others(stream: Stream, say: Callable[[str], None]) -> Iterator[tuple[str, Parts]]:
    """Every other kind that can be read: a damaged file is no reason to lose a run."""
    for kind, read in stream.other.items():
        try:
            x = read(INPUTS)
        except InputError as error:
            say(f"Note: not compared with {kind}: {error}")
            continue
        yield kind, [task.shown(part) for task, part in zip(stream, x.tensor_split(len(stream)), strict=True)]


def _uncertainties(learner: Learner[Any], parts: Parts, inference: Inference | None) -> dict[str, Tensor]:
    """The uncertainties [N] of all parts in one, by name."""
    if inference != "aware":
        return _of(learner, torch.cat(parts), None, inference)
    of_tasks = [_of(learner, x, task, inference) for task, x in enumerate(parts) if len(x)]
    return {name: torch.cat([part[name] for part in of_tasks]) for name in of_tasks[0]}


def _of(learner: Learner[Any], x: Tensor, task: int | None, inference: Inference | None) -> dict[str, Tensor]:
    if learner.has_members:
        parts = learner.uncertainty(x, task, inference=inference)
        return {"total": parts.total.cpu(), "epistemic": parts.epistemic.cpu()}
    class_sets = None if task is None else [learner.tasks[task].classes]
    scores = learner.logits(x, task, inference=inference, class_sets=class_sets)
    return {"total": entropy(scores.reshape(-1, scores.shape[-1]).double().softmax(dim=1)).cpu()}
