"""A request to end (SIGTERM, SIGHUP) taken like Ctrl-C: what is open is brought in order before the process goes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class ToldToEnd(KeyboardInterrupt):
    """The process was sent a signal that asks it to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Raise `ToldToEnd` at the first signal that asks this process to end, and pass over those that follow it.

    Signals that somebody else handles are left to them, and so are those of a process whose main thread is elsewhere.
    """
    before: dict[int, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        for handled in before:
            signal.signal(handled, signal.SIG_IGN)
        raise ToldToEnd(number)

    if threading.current_thread() is threading.main_thread():
        before |= {number: signal.SIG_DFL for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL}
    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """What a process that was interrupted so ends with."""
    return interrupt.exit_code if isinstance(interrupt, ToldToEnd) else 130
