"""A run in memory: a stream learned and scored from Python, without a folder and with nothing to resume."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.setting_values import from_record
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.metrics import Matrix, average_incremental_accuracy, final_accuracy
from merlin_cl.protocol import Inference, View
from merlin_cl.runs.evaluate import Question, evaluate, questions
from merlin_cl.runs.learning import learn_task
from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.stream import Stream
from merlin_cl.streams.user_data.paths import looks_like_a_path, settings_for


@dataclass(frozen=True)
class Outcome:
    """What came of a run: the learner, and the accuracies that every question found after every task."""

    learner: Learner[Any]
    matrices: dict[Question, Matrix]
    """By view and inference mode: row k has the accuracies, in percent, on tasks 0 to k after task k."""

    def matrix(self, view: View | None = None, inference: Inference | None = None) -> Matrix:
        """The accuracy matrix of a view and an inference mode; where none is named, the first of the stream or the method."""
        for question, matrix in self.matrices.items():
            if view in (None, question.view) and inference in (None, question.inference):
                return matrix
        asked = "; ".join(f"{question.view}, {question.inference}" for question in self.matrices)
        raise UsageError(f"Nothing was asked in the view {view} and the mode {inference}; this was: {asked}.")

    @property
    def final_accuracy(self) -> float:
        """In percent, the mean over all tasks after the last."""
        return final_accuracy(self.matrix())

    @property
    def average_incremental_accuracy(self) -> float:
        """In percent, the mean over k of the accuracy on tasks 1 to k after task k: the paper's A."""
        return average_incremental_accuracy(self.matrix())


def run(
    stream: str | Path | Stream,
    method: str | MethodSettings = "merlin",
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    batch_size: int = 10,
    inference: str = "all",
    device: str = "cpu",
    **options: Any,
) -> Outcome:
    """Learn a stream with a method, each example once, and score it after every task, as `merlin run` does.

    `stream` is a benchmark's name, a path of your own data, or a `Stream` whose examples have not been given out; `options` are
    settings of the stream, where it is named. `method` is a name, whose default settings `settings` change, or settings.

    >>> from merlin_cl import run
    >>> outcome = run("split-mnist", "slda", tasks=3, images_per_task=60, seed=1)
    >>> [round(accuracy) for accuracy in outcome.matrix()[-1]]
    [95, 84, 85]
    >>> f"{outcome.average_incremental_accuracy:.0f} %"
    '94 %'
    """
    stream = _stream(stream, options, seed)
    learner = _settings(method, settings or {}, stream).build(stream.info, seed, device)
    asked = questions(learner, stream.info, inference)
    rows: dict[Question, list[list[float]]] = {question: [] for question in asked}
    for index, task in enumerate(stream):
        batches = -(-task.train_count // max(1, batch_size))
        learn_task(learner, task.info, task.batches(batch_size), batches, seed)
        for question, evaluation in evaluate(learner, stream, index + 1, asked, lambda *_: None).items():
            rows[question].append(evaluation.accuracies)
    tasks = len(stream)
    return Outcome(
        learner,
        {question: [[*row, *[None] * (tasks - len(row))] for row in known] for question, known in rows.items()},
    )


def _stream(stream: str | Path | Stream, options: dict[str, Any], seed: int) -> Stream:
    """The stream, built if it was named."""
    if isinstance(stream, Stream):
        if options:
            raise UsageError(f"{next(iter(options))} is a setting of a stream that is named; this one is made already.")
        return stream
    name = str(stream)
    own = name not in stream_names() and (isinstance(stream, Path) or looks_like_a_path(name))
    kind = settings_for(Path(name)) if own else stream_settings(name)
    return from_record(kind, options, name).build(seed, name if own else None)


def _settings(method: str | MethodSettings, changes: Mapping[str, Any], stream: Stream) -> MethodSettings:
    """The method's settings for the stream, changed."""
    start = method if isinstance(method, MethodSettings) else method_settings(method).preset("default", stream.info)
    return start.changed(changes)
