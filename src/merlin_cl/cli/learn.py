"""`merlin learn`: let a saved learner go on learning, and keep what it has learned, or nothing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.commands import merlin
from merlin_cl.errors import InputError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from merlin_cl.cli.lessons import Lessons
    from merlin_cl.estimator import ContinualClassifier

BATCHES = 20
"""Batches that are learned between two looks at how far it is."""


@dataclass(frozen=True)
class LearnOptions:
    """Who is taught, and what."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """A saved learner, which is replaced when everything is learned, or the folder of a run, with --out."""
    data: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DATA")]
    """Examples: a folder of images (class/image or task/class/image), an .npz file with x and y, or a table."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where to write what has learned; MODEL itself unless told otherwise."""
    task: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The task that the examples belong to: a new one, the current one, or one that comes back."""
    end_task: Flag = False
    """End the task with the last example."""
    label: str = "label"
    """Of a table: the column that holds the class."""
    task_column: str = ""
    """Of a table: the column that holds the task of each row, in the order in which they come."""
    network: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A network of your own (package.module:factory), if the learner has one: naming it here says that you trust it."""
    features: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The features that the learner learned from, if it did: a name, an .onnx file or package.module:factory, which you trust."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""
    json: Flag = False
    """Print what was learned as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = (
        "Go on learning from examples, in their order, each once. The file is replaced at the end, or left as it was."
    )
    options = parse(LearnOptions, argv, "learn", about, option_names(LearnOptions))
    from merlin_cl.learners.devices import usable_device
    from merlin_cl.runs.model_file import path_of_model
    from merlin_cl.statefile import held

    usable_device(options.device)
    given = options.model.expanduser()
    if given.is_dir() and options.out is None:
        line = merlin("learn", options.model, options.data, "--out", "FILE")
        raise UsageError(f"{given} is the record of a run, which stays as it is; say where to write: `{line}`.")
    path = path_of_model(given)
    out = path if options.out is None else options.out.expanduser()
    with held(path):
        told = _taught(path, out, options)
    if options.json:
        print(json.dumps(told))
    else:
        print(_sentence(told))


def _taught(path: Path, out: Path, options: LearnOptions) -> dict[str, Any]:
    """Load, learn, save; what was learned in numbers."""
    from merlin_cl.cli.lessons import read_lessons
    from merlin_cl.estimator import load
    from merlin_cl.estimator.persistence import inputs_of
    from merlin_cl.runs.progress import clock_time, display

    model = load(path, network=options.network, features=options.features, device=options.device)
    shape = model.learner_.stream.input_shape
    lessons = read_lessons(options.data.expanduser(), shape, inputs_of(model), options.label, options.task_column)
    if lessons.tasks is not None and options.task is not None:
        raise UsageError(f"{options.data} says which task an example belongs to; leave out --task {options.task}.")
    known, before = set(model.classes_.tolist()), len(model.visits_)
    labels = labels_like(model, lessons.labels)
    begun, right = time.monotonic(), 0
    with display() as show:
        for start, stop, task in _pieces(model, lessons, options.task):
            some = slice(start, stop)
            right += int((model.predict(lessons.x[some]) == labels[some]).sum())
            model.partial_fit(lessons.x[some], labels[some], task=task)
            left = (time.monotonic() - begun) / stop * (len(labels) - stop)
            show.update(f"about {clock_time(left)} left", stop, len(labels))
        if options.end_task:
            model.end_task()
    model.save(out)
    return {
        "file": str(out),
        "examples": len(labels),
        "right_before_learning": right,
        "classes": model.classes_.tolist(),
        "new_classes": sorted(set(labels.tolist()) - known),
        "tasks": model.visits_[max(0, before - 1) :],
        "cpu_seconds": sum(model.learner_.phases.cpu_seconds.values()),
    }


def _pieces(
    model: ContinualClassifier, lessons: Lessons, task: str | None
) -> Iterator[tuple[int, int, str | int | None]]:
    """Where to begin and to stop, of examples that are learned in one call, and their task; batches are not torn apart."""
    called: dict[str, str | int] = {str(name): name for name in model.tasks_}
    step, start = BATCHES * model.batch_size, 0
    names: Sequence[str | None] = lessons.tasks or [task] * len(lessons.labels)
    for name, group in groupby(names):
        end = start + len(list(group))
        for at in range(start, end, step):
            yield at, min(at + step, end), None if name is None else called.get(name, name)
        start = end


def labels_like(model: ContinualClassifier, labels: Any) -> np.ndarray[Any, Any]:
    """Labels, which files have as text, of the kind that a model's are."""
    import numpy as np

    if not len(labels):
        raise InputError("There is no example to learn from; give at least one.")
    known = model.classes_
    if known.dtype.kind not in "biuf":
        return np.array(labels, dtype=known.dtype if known.dtype == object else None)
    kinds: dict[str, Callable[[str], Any]] = {"b": _truth, "i": int, "u": int, "f": float}
    kind = kinds[known.dtype.kind]
    try:
        return np.array([kind(label) for label in labels])
    except ValueError:
        unlike = next(label for label in labels if not _fits(label, kind))
        raise InputError(
            f"Label {unlike!r} is not like those the model knows, such as {known[0].item()!r}; give labels of one kind."
        ) from None


def _truth(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError(text)
    return text == "True"


def _fits(label: str, kind: Callable[[str], Any]) -> bool:
    try:
        kind(label)
    except ValueError:
        return False
    return True


def _sentence(told: dict[str, Any]) -> str:
    new = told["new_classes"]
    classes = (
        f"{len(new)} new: {', '.join(map(str, new[:10]))}{', ...' if len(new) > 10 else ''}" if new else "none new"
    )
    share = 100 * told["right_before_learning"] / told["examples"]
    print(f"Next: {merlin('model', told['file'])}", file=sys.stderr)
    return (
        f"{told['file']} has learned {told['examples']:,} examples; {share:.1f} % of them were answered right beforehand. "
        f"It knows {len(told['classes'])} classes ({classes})."
    )
