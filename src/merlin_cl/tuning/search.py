"""The search itself: Optuna proposes values, a trial says how good they are, and what fares worse than most is given up.

Optuna keeps nothing: its study is built again from the folder's trials whenever a search goes on, and its sampler has a seed of
its own for each trial, so that an interrupted search makes the trials of one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.search_space import Among, Space
from merlin_cl.report.text import parts
from merlin_cl.runs.folder import write_json
from merlin_cl.runs.progress import Display, clock_time
from merlin_cl.tuning.best import best, chosen_record
from merlin_cl.tuning.objective import DrawnTasks, asked, learning
from merlin_cl.tuning.plan import Plan
from merlin_cl.tuning.trials import State, StudyFolder, Trial

try:
    import optuna
except ImportError:
    raise MerlinError("`merlin tune` needs Optuna; install it with `pip install 'merlin-cl[tune]'`.") from None

STARTUP = 5
"""Trials before any is given up."""
WARMUP = 1
"""Tasks before one is given up: after a single task nothing can have been forgotten."""


def search(plan: Plan, root: Path, trials: int, show: Display) -> StudyFolder:
    """Make a search have so many trials, those it has included, and write what it chose."""
    if trials < 1:
        raise UsageError(f"trials is {trials}; it must be at least 1.")
    folder = StudyFolder(root, plan)
    with folder.opened(), _one_thread():
        draws = [DrawnTasks(plan, seed) for seed in plan.seeds]
        folder.claim(plan, "-".join(drawn.stream.fingerprint for drawn in draws))
        done = folder.trials()
        if done:
            show.say(f"{len(done)} trials were made before.")
        progress = _Progress(show, trials, len(draws[0].stream), len(done))
        while len(done) < trials:
            trial = _try(plan, draws, done, progress)
            folder.add(trial)
            done.append(trial)
            progress.trial_done(_told(trial, done))
        question = asked(plan.settings(plan.start), draws[0])
        write_json(folder.chosen, chosen_record(plan, done, question, draws[0].stream.source))
    return folder


class _Progress:
    """One bar for the whole search, with the time left from the first task on; a trial given up counts as a whole one."""

    def __init__(self, show: Display, trials: int, tasks: int, done: int) -> None:
        self._show, self._trials, self._tasks, self._done = show, trials, tasks, done
        self._before, self._begun = done, time.monotonic()

    def task_done(self, task: int) -> None:
        """A task of the current trial is over."""
        made = (self._done - self._before) * self._tasks + task + 1
        name = f"trial {self._done + 1}/{self._trials}  task {task + 1}/{self._tasks}"
        self._show.update(
            f"{name}  about {clock_time(self._left(made))} left",
            self._done * self._tasks + task + 1,
            self._trials * self._tasks,
        )

    def trial_done(self, words: str) -> None:
        """A trial is over."""
        self._done += 1
        left = self._left((self._done - self._before) * self._tasks)
        self._show.say(f"{words} ({self._done}/{self._trials}, about {clock_time(left)} left)")

    def _left(self, made: int) -> float:
        """Seconds for all tasks to come, after so many in this process."""
        ahead = (self._trials - self._before) * self._tasks - made
        return (time.monotonic() - self._begun) / made * ahead


def _try(plan: Plan, draws: list[DrawnTasks], done: list[Trial], progress: _Progress) -> Trial:
    """One trial."""
    begun = time.monotonic()
    study = _study(plan.space, done)
    if not done:
        study.enqueue_trial(plan.start)
    asked_for = study.ask(_distributions(plan.space))
    values = {name: _rounded(value) for name, value in asked_for.params.items()}
    curve: list[float] = []
    state: State = "complete"
    error = None
    try:
        for task, point in enumerate(learning(plan.settings(values), draws)):
            curve.append(point)
            asked_for.report(point, task)
            progress.task_done(task)
            if task + 1 < len(draws[0].stream) and asked_for.should_prune():
                state = "pruned"
                break
    except (ValueError, RuntimeError, ArithmeticError) as problem:  # values with which a method diverges
        state, error = "failed", f"{type(problem).__name__}: {problem}"
    seconds = round(time.monotonic() - begun, 2)
    return Trial(len(done), values, tuple(curve), state, seconds, error)


def _rounded(value: Any) -> Any:
    """Three digits, so that settings can be read and typed; what is tried is what is recorded."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _study(space: Space, done: list[Trial]) -> optuna.Study:
    """Optuna's view of the trials made, ready for the next one."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=len(done), n_startup_trials=STARTUP, multivariate=False),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP),
    )
    states = {
        "complete": optuna.trial.TrialState.COMPLETE,
        "pruned": optuna.trial.TrialState.PRUNED,
        "failed": optuna.trial.TrialState.FAIL,
    }
    for trial in done:
        study.add_trial(
            optuna.trial.create_trial(
                state=states[trial.state],
                value=trial.value if trial.state == "complete" else None,
                params=trial.values,
                distributions=_distributions(space),
                intermediate_values=dict(enumerate(trial.curve)),
            )
        )
    return study


def _distributions(space: Space) -> dict[str, optuna.distributions.BaseDistribution]:
    return {
        name: optuna.distributions.CategoricalDistribution(part.values)
        if isinstance(part, Among)
        else optuna.distributions.FloatDistribution(part.low, part.high, log=part.log)
        for name, part in space.items()
    }


def _told(trial: Trial, done: list[Trial]) -> str:
    words = parts(trial.values)
    if trial.state == "failed":
        return f"trial {trial.number + 1}: failed with {words}"
    gave = f"{trial.value:.2f}" + (" (given up)" if trial.state == "pruned" else "")
    top = best(done)
    return f"trial {trial.number + 1}: {gave} with {words}; best {top.value:.2f}" if top else f"{gave} with {words}"


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
