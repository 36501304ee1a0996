"""A run from beginning to end: every task learned once, then scored, then checkpointed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from merlin_cl.commands import merlin
from merlin_cl.errors import DivergenceError, MerlinError, MissingPathError
from merlin_cl.learners.devices import usable_device
from merlin_cl.learners.learner import Learner
from merlin_cl.metrics import learning_curve
from merlin_cl.runs.calibration import Record
from merlin_cl.runs.checkpoint import Checkpoints
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.description import described_stream
from merlin_cl.runs.detection import detection
from merlin_cl.runs.environment import differences, environment
from merlin_cl.runs.evaluate import Question, evaluate, questions
from merlin_cl.runs.folder import Listener, RunFolder
from merlin_cl.runs.learning import learn_task
from merlin_cl.runs.ledger import Ledger, Probe
from merlin_cl.runs.model_file import learner_of_run
from merlin_cl.runs.progress import Display, RunProgress
from merlin_cl.runs.stopping import ending_in_order, exit_code
from merlin_cl.statefile import State

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream


class RunStoppedError(MerlinError):
    """The run was stopped, by the user or by a signal; all tasks that were done are kept."""

    def __init__(self, sentence: str, interrupt: KeyboardInterrupt) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code(interrupt)


def run(
    config: RunConfig, root: Path, show: Display, *, restart: bool = False, listeners: Sequence[Listener] = ()
) -> RunFolder:
    """Compute a run, or go on with it; one that is finished is computed again only on `restart`."""
    usable_device(config.device)
    stream = described_stream(config, show)
    if config.source not in ("", stream.source):
        raise MerlinError(f"The data are other ones ({stream.source}) than were asked for ({config.source}).")
    config = config.having(stream)
    return _work_on(RunFolder(root / config.name, listeners), config, stream, show, restart)


def resume(folder: RunFolder, show: Display, data: str | None = None) -> RunFolder:
    """Go on with a run that was interrupted; `data` says where its data are now, if they were moved."""
    config = folder.config()
    config = config if data is None else replace(config, data=data)
    usable_device(config.device)
    if config.data is not None and not Path(config.data).exists():
        raise MissingPathError(
            f"{config.data} with the data of {folder.path} is not there; say where it is now: "
            f"`{merlin('resume', folder.path, '--data', 'PATH')}`."
        )
    stream = described_stream(config, show)
    if (stream.source, stream.fingerprint) != (config.source, config.fingerprint):
        raise MerlinError(
            f"{folder.path} was begun with other data ({config.source}, checksum {config.fingerprint}) than there are in "
            f"{stream.place} now ({stream.source}, checksum {stream.fingerprint}); put the data back, or begin a new run "
            "with `merlin run`."
        )
    return _work_on(folder, config, stream, show, restart=False)


def _work_on(folder: RunFolder, config: RunConfig, stream: Stream, show: Display, restart: bool) -> RunFolder:
    learner = config.method.build(stream.info, config.seed, config.device)
    ledger = Ledger(questions(learner, stream.info, config.inference))
    folder.make()
    with folder.locked():
        folder.claim(config)
        if restart:
            folder.clear()
        if folder.finished:
            show.say("This run is finished; `merlin run` with --restart computes it again.")
            _compare_environments(folder, environment(config.threads), show)
        else:
            try:
                with threads(config.threads), ending_in_order():
                    _compute(folder, config, stream, learner, ledger, show)
            except KeyboardInterrupt as interrupt:
                _log_end(folder, "stopped")
                raise RunStoppedError(
                    f"Stopped; `{merlin('resume', folder.path)}` goes on after the last task done.", interrupt
                ) from None
            except OSError as error:
                _log_end(folder, "failed", error=f"{type(error).__name__}: {error}")
                raise MerlinError(
                    f"{error.strerror or type(error).__name__} at {error.filename or folder.path}; every task that was done is "
                    f"kept: mend that, and `{merlin('resume', folder.path)}` goes on."
                ) from error
            except DivergenceError as error:
                _log_end(folder, "failed", error=str(error))
                if any(folder.checkpoints.glob("task-*.safetensors")):
                    show.say(f"The tasks done before are kept; `{merlin('show', folder.path)}` has their scores.")
                raise
            except Exception as error:
                _log_end(folder, "failed", error=f"{type(error).__name__}: {error}")
                raise
    return folder


def _log_end(folder: RunFolder, event: str, **values: str) -> None:
    """Log how the run ended, if the disk lets us: what is told to the user is the reason, not that it could not be logged."""
    with suppress(OSError):
        folder.log(event, **values)


def _compute(
    folder: RunFolder, config: RunConfig, stream: Stream, learner: Learner[Any], ledger: Ledger, show: Display
) -> None:
    checkpoints = Checkpoints(folder.checkpoints, config.digest)
    state = _latest(checkpoints, folder, show)
    if state is not None:
        ledger = _restored(state, learner, folder)
    here = environment(config.threads)
    changes = [] if state is None else _compare_environments(folder, here, show)
    folder.write_environment(here)
    begun = "started" if state is None else "resumed"
    folder.log(begun, tasks_done=ledger.tasks_done, tasks=stream.info.tasks, environment_changes=changes)

    progress = RunProgress(show, stream.info.tasks, ledger.task_seconds)
    learner.phases.listener = progress.told
    for index in range(ledger.tasks_done, stream.info.tasks):
        progress.begin(index)
        folder.log("task", task=index)
        task = stream[index]
        batches = math.ceil(task.train_count / config.batch_size)
        held = learn_task(learner, task.info, task.batches(config.batch_size), batches, config.seed)
        if curves := learner.phases.take_losses():
            folder.log("losses", task=index, curves=curves)
        with ledger.timed("probe", learner):
            probe = _probe(folder, learner, stream, index)
        with ledger.timed("evaluate", learner):
            evaluations = evaluate(learner, stream, index + 1, ledger.asked, progress.told)
        ledger.add(evaluations, probe, held)
        progress.end(_summary(ledger))
        for question, evaluation in evaluations.items():
            asked = {"after_task": index, "view": question.view, "inference": question.inference}
            folder.log("accuracy", **asked, row=evaluation.accuracies)
            if evaluation.calibration is not None:
                folder.log("calibration", **asked, **evaluation.calibration.record())
        path = checkpoints.save(index + 1, {"learner": learner.state(), "ledger": ledger.state()})
        folder.log("checkpoint", file=path.name)

    with ledger.timed("probe", learner):
        # Of the last task it has been asked: a learner that was resumed since no longer has the base models to compare with.
        earlier = [_probe(folder, learner, stream, index) for index in range(stream.info.tasks - 1)]
        final = [*earlier, ledger.learned[-1]]
    others = _tell_other_kinds(folder, learner, stream, ledger, show)
    learner_of_run(learner, stream).save(folder.model)
    folder.write_result(ledger.result(config, learner, final, others))
    folder.log("finished")


def _latest(checkpoints: Checkpoints, folder: RunFolder, show: Display) -> State | None:
    """The state to go on from. A damaged checkpoint is passed over and set aside, which the user is told and the log keeps."""
    state, path, damaged = checkpoints.latest()
    start = "the start" if path is None else path.name
    for checkpoint in damaged:
        show.say(f"Note: the checkpoint {checkpoint.path} is damaged ({checkpoint.reason}); going on from {start}.")
        folder.log("damaged", file=checkpoint.path.name, reason=checkpoint.reason, going_on_from=start)
        checkpoints.set_aside(checkpoint.path)
    return state


def _restored(state: State, learner: Learner[Any], folder: RunFolder) -> Ledger:
    """Have the learner go on from a checkpoint that is whole; gives the ledger that came with it."""
    try:
        learner.restore(state["learner"])
        return Ledger.from_state(state["ledger"])
    except MerlinError:
        raise
    except Exception as error:
        raise MerlinError(
            f"The checkpoint in {folder.checkpoints} is whole, but not one that this version of merlin-cl writes "
            f"({type(error).__name__}: {error}); go on with the version that {folder.path / 'env.json'} names, or compute it "
            "again with `merlin run` and --restart."
        ) from error


def _compare_environments(folder: RunFolder, here: dict[str, Any], show: Display) -> list[str]:
    """What has changed since the run was last worked on, told to the user: the same bits are then no longer certain."""
    before = folder.environment()
    changes = [] if before is None else differences(before, here)
    if changes:
        show.say(f"Note: since this run was last worked on {', '.join(changes)}; results may differ in small ways.")
    return changes


def _probe(folder: RunFolder, learner: Learner[Any], stream: Stream, task: int) -> Probe:
    """What the learner can say of a task, if it can say anything: a method offers this by having `probe`."""
    probe = getattr(learner, "probe", None)
    if probe is None:
        return None
    values: dict[str, float] = {name: float(value) for name, value in probe(task, *stream[task].test()).items()}
    folder.log("probe", task=task, after_task=len(learner.tasks) - 1, values=values)
    return values


def _tell_other_kinds(
    folder: RunFolder, learner: Learner[Any], stream: Stream, ledger: Ledger, show: Display
) -> dict[Question, Record]:
    """How well the learner tells inputs of another kind from the stream's own, where the stream has brought some."""
    if not stream.other:
        return {}
    with ledger.timed("other_kinds", learner):
        records = detection(learner, stream, ledger.asked, show.say)
    for question, other in records.items():
        folder.log("other_kinds", view=question.view, inference=question.inference, auroc=other)
    return records


def _summary(ledger: Ledger) -> str:
    """The newest point of a learning curve of every view, that of the method's own answer, in one line."""
    first: dict[str, Question] = {}
    for question in ledger.asked:
        first.setdefault(question.view, question)
    points = {view: learning_curve(ledger.matrix(question))[-1] for view, question in first.items()}
    return ", ".join(f"{view} {point:.1f}" for view, point in points.items())


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many CPU threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
