"""Learners of all methods used at random for a long time: what every learner promises holds at every step.

A session is one learner of one method on data of random width: it learns batches of one to forty examples, old classes and new
ones, ends tasks, answers, is saved and loaded in the middle, is cloned. A try is one of these steps.
"""

import gc
import random
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import clone

from merlin_cl import ContinualClassifier
from reliability_trials import processes
from reliability_trials.learners import announced, grows, methods, small
from reliability_trials.processes import resident

SESSIONS = 10_000
"""More than there is time for."""
STEPS = 25
"""Of a session."""
GROWTH = 150_000_000
"""Bytes that a process may hold more after all sessions than after each method's first."""


def outcomes(start: int, stop: int, scratch: Path, minutes: float = 10) -> Iterator[str | None]:
    """One for each step, for so many minutes; without a `stop` for as long as there is time."""
    until = time.monotonic() + 60 * minutes
    first, last = start // STEPS, -(-stop // STEPS) if stop else SESSIONS
    for outcome in processes.each(partial(session, until=until), first, last, scratch):
        if outcome == "over":
            return
        yield from [outcome, *[None] * (STEPS - 1)]


def session(number: int, scratch: Path, until: float, baseline: dict[str, int] = {}) -> str | None:  # noqa: B006
    """Use one learner; what went wrong first, if anything did. `baseline` is the process's memory of itself."""
    if time.monotonic() > until:
        return "over"
    draws = random.Random(f"soak {number}")
    method = methods()[number % len(methods())]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            failure = _used(method, draws, scratch / "soak.safetensors")
        except Exception as error:
            failure = f"{type(error).__name__}: {str(error)[:300]}"
    gc.collect()
    if number % len(methods()) == 0:
        held = resident(reset=True)
        baseline.setdefault("round", number)
        if number >= baseline["round"] + len(methods()):
            grown = held - baseline.setdefault("held", held)
            failure = failure or (f"{grown:,} bytes more are held" if grown > GROWTH else None)
    return failure and f"{method}: {failure}"


def _used(method: str, draws: random.Random, file: Path) -> str | None:
    numbers = np.random.default_rng(draws.randrange(2**32))
    columns, scale = draws.randint(1, 12), draws.choice([0.01, 1.0, 1.0, 1.0, 30.0])
    centres = numbers.normal(0, 2, (12, columns))
    model, known, in_task = small(method, seed=draws.randrange(100)), [0, 1], True
    if not grows(method):
        model.set_params(expected_tasks=STEPS)

    def examples(classes: list[int], count: int) -> tuple[np.ndarray, np.ndarray]:
        y = np.array([draws.choice(classes) for _ in range(count)])
        return (scale * (centres[y] + numbers.normal(0, 0.3, (count, columns)))).astype(np.float32), y

    model.partial_fit(*examples(known, 20), classes=announced(method))
    for _ in range(STEPS - 1):
        step = draws.choice(["learn", "learn", "learn", "end", "ask", "ask", "save", "clone"])
        if step == "learn":
            if not in_task and len(known) < len(centres):
                known = [*known, len(known)]
            task = [known[-1], draws.choice(known)] if not in_task else known[-2:]
            model.partial_fit(*examples(task, draws.choice([1, 2, 10, 40])))
            in_task = True
        elif step == "end" and in_task:
            model.end_task()
            in_task = False
        elif step == "save":
            asked, _ = examples(known, 10)
            before = model.predict_proba(asked)
            model = ContinualClassifier.load(model.save(file))
            if not np.array_equal(model.predict_proba(asked), before):
                return "it answers otherwise when it was saved and loaded"
        elif step == "clone":
            if clone(model).get_params() != model.get_params():
                return "its clone has other parameters"
        else:
            asked, _ = examples(known, draws.choice([1, 7, 50]))
            chances = model.predict_proba(asked)
            if not np.isfinite(chances).all() or not np.allclose(chances.sum(axis=1), 1, atol=1e-4):
                return "its probabilities are none"
            if not set(model.predict(asked)) <= set(known):
                return "it names a class that it was never shown"
    return None
