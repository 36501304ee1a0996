"""`merlin predict`: ask a saved learner, or the one that a run left behind."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import unknown

if TYPE_CHECKING:
    from merlin_cl.estimator import ContinualClassifier
    from merlin_cl.estimator.explaining import Reasons

BLOCK = 1000
"""Inputs asked about at once."""


@dataclass(frozen=True)
class PredictOptions:
    """Whom to ask, and what about."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """A saved learner, or the folder of a run that has ended."""
    input: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="INPUT")]
    """An image, a folder of images, an .npz file with an array x, or a table (.csv, .tsv, .parquet)."""
    task: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The task that the inputs belong to, by name or number, if it is known."""
    inference: Annotated[str | None, tyro.conf.arg(metavar="MODE")] = None
    """How to answer where the task is not known: aggregate or marginal, if the method has them."""
    probabilities: Flag = False
    """Give the probability of every class, not of the answer alone."""
    explain: Flag = False
    """Say what each answer rests on: the second choice, the task that answers, and the nearest exemplars."""
    nearest: int = 3
    """Exemplars that an explanation names."""
    network: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A network of your own (package.module:factory), if the learner has one: naming it here says that you trust it."""
    features: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The features that the learner learned from, if it did: a name, an .onnx file or package.module:factory, which you trust."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    json: Flag = False
    """Print the answers as JSON rather than CSV."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "The class of each input, as CSV or JSON, from a saved learner or from the one that a run left behind."
    options = parse(PredictOptions, argv, "predict", about, option_names(PredictOptions))
    from merlin_cl.estimator import load
    from merlin_cl.learners.devices import usable_device

    usable_device(options.device)
    model = load(options.model.expanduser(), network=options.network, features=options.features, device=options.device)
    model.inference = options.inference  # type: ignore[assignment]  # checked when the first question is asked
    rows = list(_answers(model, options))
    if options.json:
        print(json.dumps(rows))
    else:
        _print_csv(rows, model, options)


def _print_csv(rows: list[dict[str, Any]], model: ContinualClassifier, options: PredictOptions) -> None:
    fields = ["input", "label", "probability"]
    if options.explain:
        fields += ["second", "second_probability", "task", "task_share", "nearest"]
    if options.probabilities:
        fields += [str(label) for label in model.classes_.tolist()]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        told = [row["input"], row["label"], f"{row['probability']:.6f}"]
        if options.explain:
            share = row["task_share"]
            near = "; ".join(f"{one['label']} ({one['task']}, {one['distance']:.3g})" for one in row["nearest"])
            told += [row["second"], f"{row['second_probability']:.6f}", row["task"]]
            told += ["" if share is None else f"{share:.6f}", near]
        writer.writerow([*told, *(f"{value:.6f}" for value in row.get("probabilities", {}).values())])


def _answers(model: ContinualClassifier, options: PredictOptions) -> Iterator[dict[str, Any]]:
    """A row for each input: its name, the answer, how probable that is, and what it rests on if that is wanted."""
    from merlin_cl.estimator.persistence import inputs_of
    from merlin_cl.learners.saving.input_files import read_inputs
    from merlin_cl.runs.progress import clock_time, display

    learner, task = model.learner_, _task(model, options.task)
    labels = model.classes_.tolist()
    x, names = read_inputs(options.input.expanduser(), learner.stream.input_shape, inputs_of(model))
    with display() as show:
        learner.phases.listener = lambda phase, done, total: show.update(f"preparing: {phase}", done, total)
        begun = time.monotonic()
        for start in range(0, len(x), BLOCK):
            some = x[start : start + BLOCK]
            reasons = model.explain(some, task, nearest=options.nearest) if options.explain else [None] * len(some)
            rows = zip(names[start : start + BLOCK], model.predict_proba(some, task).tolist(), reasons, strict=True)
            for name, row, reason in rows:
                best = max(range(len(row)), key=row.__getitem__)
                answer = {"input": name, "label": labels[best], "probability": row[best], **_told(reason)}
                if options.probabilities:
                    answer["probabilities"] = {str(label): row[at] for at, label in enumerate(labels)}
                yield answer
            done = min(start + BLOCK, len(x))
            left = (time.monotonic() - begun) / done * (len(x) - done)
            show.update(f"about {clock_time(left)} left", done, len(x))


def _told(reasons: Reasons | None) -> dict[str, Any]:
    """What an answer rests on, as JSON can hold it."""
    if reasons is None:
        return {}
    return {
        "second": reasons.second,
        "second_probability": reasons.second_confidence,
        "task": reasons.task,
        "task_share": reasons.task_share,
        "nearest": [{"label": one.label, "task": one.task, "distance": one.distance} for one in reasons.nearest],
    }


def _task(model: ContinualClassifier, name: str | None) -> str | int | None:
    """A task by what it is called, or by its number."""
    if name is None:
        return None
    called = {str(task): task for task in model.tasks_}
    if name in called:
        return called[name]
    if name.isdecimal() and int(name) < len(model.visits_):
        return model.visits_[int(name)]
    raise unknown("task", name, called)
