"""What a learner is doing, how far it has come, the CPU time each kind of work has taken, and the losses it met with."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with (phase, steps done, steps in all) as work proceeds."""


class Phases:
    """CPU seconds by phase, losses step by step, and a listener that is told of progress."""

    def __init__(self) -> None:
        self.cpu_seconds: dict[str, float] = {}
        self.losses: dict[str, list[float]] = {}
        self.listener: Listener | None = None

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Count the CPU time of the block towards `phase`."""
        start = time.process_time()
        try:
            yield
        finally:
            self.cpu_seconds[phase] = self.cpu_seconds.get(phase, 0.0) + time.process_time() - start

    def steps(self, phase: str, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Pass items through, telling the listener after each."""
        for done, item in enumerate(items, start=1):
            yield item
            if self.listener is not None:
                self.listener(phase, done, total)

    def note_loss(self, name: str, value: float) -> None:
        """One more point of a loss curve."""
        self.losses.setdefault(name, []).append(value)

    def take_losses(self) -> dict[str, list[float]]:
        """The loss curves since they were last taken."""
        taken, self.losses = self.losses, {}
        return taken
