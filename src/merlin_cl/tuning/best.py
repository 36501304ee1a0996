"""What a search chose, with all that is needed to judge it: a small file that can ship with the package."""

from __future__ import annotations

from typing import Any

from merlin_cl.commands import merlin, option
from merlin_cl.errors import MerlinError
from merlin_cl.runs.environment import environment
from merlin_cl.runs.evaluate import Question
from merlin_cl.streams.settings.user_data import OwnSettings
from merlin_cl.tuning.plan import Plan, searched
from merlin_cl.tuning.trials import Trial


def best(trials: list[Trial]) -> Trial | None:
    """The trial with the highest value among those that were not given up; the earliest of equals."""
    complete = [trial for trial in trials if trial.state == "complete"]
    return max(complete, key=lambda trial: trial.value, default=None)


def chosen_record(plan: Plan, trials: list[Trial], question: Question, source: str) -> dict[str, Any]:
    """The settings chosen, how they were obtained, and every trial."""
    top = best(trials)
    if top is None:
        raise MerlinError(f"No trial of {plan.method.method} came to its end; make more with --trials.")
    tasks = plan.info.tasks
    here = environment(threads=1)
    return {
        "settings": top.values,
        "obtained": f"the best of {len(trials)} trials on held-out training examples of the first {tasks} tasks of "
        f"{plan.title}, {len(plan.seeds)} seed{'s' * (len(plan.seeds) > 1)}; no test data",
        "command": command(plan, len(trials)),
        "measure": {"metric": "average_incremental_accuracy", "view": question.view, "inference": question.inference},
        "value": round(top.value, 4),
        "value_before": round(trials[0].value, 4) if trials[0].state == "complete" else None,
        **plan.record(),
        "trials": [trial.record() for trial in trials],
        "source": source,
        "revision": here["git_revision"],
        "versions": here["versions"],
    }


def command(plan: Plan, trials: int) -> str:
    """What to type to make this search again."""
    parts = ["tune", plan.method.method, *_stream_words(plan), "--trials", trials, "--seeds", *plan.seeds]
    parts += ["--batch-size", plan.batch_size] if plan.batch_size != Plan.batch_size else []
    return merlin(*parts)


def run_command(plan: Plan, chosen: dict[str, Any]) -> str:
    """What to type to run the method with the settings chosen, on all tasks."""
    options = [word for name, value in chosen["settings"].items() for word in option(name, value)]
    kept = _changed(plan) if isinstance(plan.stream, OwnSettings) else {}
    stream = [word for name, value in kept.items() for word in option(name, value)]
    where = [] if plan.data is None or isinstance(plan.stream, OwnSettings) else ["--data", plan.data]
    return merlin("run", _place(plan), "--method", plan.method.method, *where, *stream, *options)


def _stream_words(plan: Plan) -> list[str]:
    """How the command line is told the stream, with all that is set otherwise than a search has it."""
    return [_place(plan), *(word for name, value in _changed(plan).items() for word in option(name, value))]


def _place(plan: Plan) -> str:
    """The name of the stream, or the path of a user's own data."""
    return str(plan.data) if isinstance(plan.stream, OwnSettings) else plan.stream.stream


def _changed(plan: Plan) -> dict[str, Any]:
    usual = searched(type(plan.stream)).record()
    return {name: value for name, value in plan.stream.record().items() if value != usual[name]}
