"""Answers out of a snapshot: those who ask at the same time are answered in one pass, by a thread that does nothing else."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from merlin_cl.errors import MerlinError
from merlin_cl.serving.journal import Array
from merlin_cl.serving.model import Answer, PredictionRequest, ServedVersion

TOGETHER = 256
"""Inputs that are answered in one pass, at most, unless one request has more."""
MOST_WAITING = 4_096
"""Inputs that may wait for an answer."""


class BusyError(MerlinError):
    """More is asked than can be answered, or waits to be learned than is let wait; to be asked again in a while."""


@dataclass(frozen=True)
class _Asked:
    x: Array
    question: PredictionRequest
    future: Future[Answer]


class Answerer:
    """Answers in a thread of its own until it is stopped."""

    def __init__(self, snapshot: Callable[[], ServedVersion]) -> None:
        self._snapshot = snapshot
        self._waiting: deque[_Asked] = deque()
        self._inputs, self._stopping = 0, False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._answer, name="answerer", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, once all that was asked is answered."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def ask(self, x: Array, question: PredictionRequest) -> Future[Answer]:
        """The answer to come; BusyError where too many wait for one."""
        asked = _Asked(x, question, Future())
        with self._changed:
            if self._inputs and self._inputs + len(x) > MOST_WAITING:
                raise BusyError(f"{self._inputs:,} inputs wait for an answer already; ask again in a second.")
            self._inputs += len(x)
            self._waiting.append(asked)
            self._changed.notify()
        return asked.future

    def _answer(self) -> None:
        while questions := self._next():
            questions = [each for each in questions if each.future.set_running_or_notify_cancel()]
            if not questions:
                continue
            try:
                self._answer_together(questions)
            except Exception as error:
                for question in questions:
                    question.future.set_exception(error)

    def _answer_together(self, questions: list[_Asked]) -> None:
        x = np.concatenate([each.x for each in questions]) if len(questions) > 1 else questions[0].x
        answer, start = self._snapshot().answer(x, questions[0].question), 0
        for each in questions:
            each.future.set_result(answer.part(start, start + len(each.x)))
            start += len(each.x)

    def _next(self) -> list[_Asked]:
        """Those who wait longest and ask the same; nobody where it is time to end."""
        with self._changed:
            while not self._waiting and not self._stopping:
                self._changed.wait()
            questions: list[_Asked] = []
            inputs = 0
            while self._waiting and (
                not questions
                or (self._waiting[0].question == questions[0].question and inputs + len(self._waiting[0].x) <= TOGETHER)
            ):
                questions.append(self._waiting.popleft())
                inputs += len(questions[-1].x)
            self._inputs -= inputs
            return questions


class Remembered:
    """The last inputs that were answered, so that whoever asked can say later what was right; they take bounded memory."""

    def __init__(self, most_bytes: int = 2**24) -> None:
        self._most, self._bytes = most_bytes, 0
        self._known: OrderedDict[str, tuple[Array, str | int | None]] = OrderedDict()

    def add(self, id: str, x: Array, task: str | int | None) -> None:
        """Inputs [N, ...] of a request and the task that they were said to belong to."""
        self._known[id] = (x, task)
        self._bytes += x.nbytes
        while self._bytes > self._most and self._known:
            _, (gone, _) = self._known.popitem(last=False)
            self._bytes -= gone.nbytes

    def get(self, id: str) -> tuple[Array, str | int | None] | None:
        """The one input [1, ...] that an answer's id stands for, and its task; None where it is not known, or no more."""
        request, _, place = id.rpartition("-")
        known = self._known.get(request)
        if (
            known is None
            or not (place.isascii() and place.isdecimal())
            or len(place) > 9
            or int(place) >= len(known[0])
        ):
            return None
        x: Any = known[0][int(place) : int(place) + 1]
        return x, known[1]
