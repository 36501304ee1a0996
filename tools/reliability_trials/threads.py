"""Threads that ask while another teaches: each answer is that of a learning call that was done."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, repeat
from pathlib import Path

from merlin_cl import ContinualClassifier
from reliability_trials.learners import announced, clouds, methods, small

READERS, ANSWERS = 8, 10
"""Threads that ask, and answers of each that are counted; while there is something to learn they go on asking."""
ROUND = READERS * ANSWERS
Lesson = Callable[[ContinualClassifier], ContinualClassifier]


def outcomes(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One for each answer, in rounds of one learner."""
    for number in range(start // ROUND, -(-stop // ROUND)):
        method = methods()[number % len(methods())]
        failures = [f"{method}: {failure}" for failure in _round(method)]
        yield from islice([*failures, *repeat(None, ROUND - len(failures))], stop - number * ROUND)


def _round(method: str) -> list[str]:
    """What readers found wrong, at most one thing each."""
    first, *rest = _lessons(method)
    x = clouds(0, 1, 2, 3, 4, 5, count=12)[0]
    alone = small(method)
    known = [lesson(alone).predict_proba(x).tobytes() for lesson in (first, *rest)]
    model, done = first(small(method)), threading.Event()

    def read() -> str | None:
        seen, count = 0, 0
        while count < ANSWERS or not done.is_set():
            answer = model.predict_proba(x).tobytes()
            if answer not in known[seen:]:
                return "an earlier answer came back" if answer in known else "an answer is of no learning call"
            seen, count = known.index(answer, seen), count + 1
        return None

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read) for _ in range(READERS)]
        try:
            for lesson in rest:
                lesson(model)
        finally:
            done.set()
        errors = [reader.exception() for reader in readers]
        return [
            f"{type(error).__name__}: {error}" if error else str(reader.result())
            for reader, error in zip(readers, errors, strict=True)
            if error or reader.result()
        ]


def _lessons(method: str) -> Iterator[Lesson]:
    """Learning calls, which bring classes, tasks and ends of tasks."""
    room = announced(method) or range(6)
    for step in range(3):
        x, y = clouds(2 * step, 2 * step + 1, count=20)
        yield lambda model, x=x, y=y: model.partial_fit(x, y, classes=room)  # type: ignore[misc]
        yield lambda model: model.end_task()
