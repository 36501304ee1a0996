"""The learner that a run leaves behind in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from merlin_cl.commands import merlin
from merlin_cl.errors import MissingPathError, UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.saving.saved import Inputs, Label, SavedLearner

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream


def learner_of_run(learner: Learner[Any], stream: Stream) -> SavedLearner:
    """A learner with what the stream calls its classes and tasks."""
    names = stream.class_names or [str(output) for output in range(stream.info.classes)]
    tasks = [task.name for task in learner.tasks]
    unique = all(tasks) and len(set(tasks)) == len(tasks)
    means = stream.means
    is_bytes = stream[0].test()[0].dtype == torch.uint8
    return SavedLearner(
        learner,
        _as_numbers(names),
        tuple(tasks) if unique else tuple(range(len(tasks))),
        Inputs(is_bytes, stream.columns, stream.standardisation, stream.features, stream.encoding, means is not None),
        extra_state={} if means is None else {"means": means.state()},
    )


def path_of_model(path: Path) -> Path:
    """The file with the learner: the path itself, or that in a run folder."""
    if not path.exists():
        raise MissingPathError(f"{path} is not there; give a saved learner or the folder of a run that has ended.")
    if not path.is_dir():
        return path
    model = path / "model.safetensors"
    if model.is_file():
        return model
    if not (path / "config.json").is_file():
        raise UsageError(f"{path} is neither a saved learner nor a run folder; `merlin list` shows the runs there are.")
    raise UsageError(
        f"{path} has no model.safetensors, which a run writes when it ends; `{merlin('resume', path)}` goes on with it."
    )


def _as_numbers(names: Any) -> tuple[Label, ...]:
    """Names of classes; as whole numbers, if all are."""
    if all(name.removeprefix("-").isdecimal() and str(int(name)) == name for name in names):
        return tuple(int(name) for name in names)
    return tuple(names)
