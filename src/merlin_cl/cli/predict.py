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
    from merlin_cl.learners.saving.saved import SavedLearner

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
    network: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A network of your own (package.module:factory), if the learner has one: naming it here says that you trust it."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    json: Flag = False
    """Print the answers as JSON rather than CSV."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "The class of each input, as CSV or JSON, from a saved learner or from the one that a run left behind."
    options = parse(PredictOptions, argv, "predict", about, option_names(PredictOptions))
    from merlin_cl.learners.devices import usable_device
    from merlin_cl.learners.saving.saved import SavedLearner
    from merlin_cl.runs.model_file import path_of_model

    usable_device(options.device)
    path = path_of_model(options.model.expanduser())
    saved = SavedLearner.load(path, network=options.network, device=options.device)
    rows = list(_answers(saved, options))
    if options.json:
        print(json.dumps(rows))
        return
    fields = ["input", "label", "probability"]
    if options.probabilities:
        fields += [str(label) for label in saved.classes]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        each = row.get("probabilities", {}).values()
        writer.writerow([row["input"], row["label"], f"{row['probability']:.6f}", *(f"{value:.6f}" for value in each)])


def _answers(saved: SavedLearner, options: PredictOptions) -> Iterator[dict[str, Any]]:
    """A row for each input: its name, the answer, and how probable that is."""
    from merlin_cl.learners.saving.input_files import read_inputs
    from merlin_cl.runs.progress import clock_time, display

    learner, task = saved.learner, _task(saved, options.task)
    inference: Any = options.inference
    x, names = read_inputs(options.input.expanduser(), saved)
    with display() as show:
        learner.phases.listener = lambda phase, done, total: show.update(f"preparing: {phase}", done, total)
        begun = time.monotonic()
        for start in range(0, len(x), BLOCK):
            found = learner.probabilities(x[start : start + BLOCK], task, inference=inference)
            for name, row in zip(names[start : start + BLOCK], found.tolist(), strict=True):
                best = max(range(len(row)), key=row.__getitem__)
                answer = {"input": name, "label": saved.classes[best], "probability": row[best]}
                if options.probabilities:
                    answer["probabilities"] = {str(label): row[at] for at, label in enumerate(saved.classes)}
                yield answer
            done = min(start + BLOCK, len(x))
            left = (time.monotonic() - begun) / done * (len(x) - done)
            show.update(f"about {clock_time(left)} left", done, len(x))


def _task(saved: SavedLearner, name: str | None) -> int | None:
    """The number of a task, by what it is called or by its number."""
    if name is None:
        return None
    called = [str(task) for task in saved.tasks]
    if name in called:
        return called.index(name)
    if name.isdecimal() and int(name) < len(called):
        return int(name)
    raise unknown("task", name, called)
