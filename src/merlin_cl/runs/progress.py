"""What a run shows while it works: a live line where somebody watches, plain lines now and then where nobody does."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

QUIET_SECONDS = 5.0
"""The least time between two plain lines."""


class Display(Protocol):
    """Where progress is shown."""

    def update(self, text: str, done: int, total: int) -> None:
        """Something moved."""

    def say(self, text: str) -> None:
        """A line that stays."""


class Forecast:
    """Estimates the time left from the time that earlier tasks took, each a little longer than the one before."""

    def __init__(self, tasks: int, taken: list[float], clock: Callable[[], float] = time.monotonic) -> None:
        self.tasks = tasks
        self.taken = taken  # seconds of each task done; shared with the run, which keeps it in the checkpoint
        self.clock = clock
        self.begun = clock()
        self.task_begun = self.begun

    def begin_task(self) -> None:
        """A task starts now."""
        self.task_begun = self.clock()

    def end_task(self) -> None:
        """The task is over: remember how long it took."""
        self.taken.append(round(self.clock() - self.task_begun, 3))

    def elapsed(self) -> float:
        """Seconds since this process started the run."""
        return self.clock() - self.begun

    def left(self) -> float | None:
        """Seconds until the whole run is done; None before the first task is over."""
        if not self.taken:
            return None
        growth = max(0.0, (self.taken[-1] - self.taken[0]) / max(1, len(self.taken) - 1))
        ahead = [self.taken[-1] + growth * (step + 1) for step in range(self.tasks - len(self.taken))]
        if not ahead:
            return 0.0
        return max(0.0, ahead[0] - (self.clock() - self.task_begun)) + sum(ahead[1:])


class RunProgress:
    """Tells a display what the run is doing: task, phase, how far, how long, how much longer."""

    def __init__(self, display: Display, tasks: int, taken: list[float]) -> None:
        self.display = display
        self.tasks = tasks
        self.task = max(0, len(taken) - 1)  # until one begins; after a resume none may be left to begin
        self.forecast = Forecast(tasks, taken)

    def begin(self, task: int) -> None:
        """Task `task` starts."""
        self.task = task
        self.forecast.begin_task()

    def told(self, phase: str, done: int, total: int) -> None:
        """A step of a phase is done (this is a learner's listener)."""
        times = f"{clock_time(self.forecast.elapsed())} elapsed"
        left = self.forecast.left()
        if left is not None:
            times += f", about {clock_time(left)} left"
        self.display.update(f"task {self.task + 1}/{self.tasks}  {phase:<11} {times}", done, total)

    def end(self, scores: str) -> None:
        """The task is over."""
        self.forecast.end_task()
        seconds = self.forecast.taken[-1]
        self.display.say(f"task {self.task + 1}/{self.tasks} done in {seconds:.1f} s: {scores}")


class PlainDisplay:
    """Lines, a few seconds apart at least."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = stream
        self.clock = clock
        self.last = clock()

    def update(self, text: str, done: int, total: int) -> None:
        """A line, unless one was printed a moment ago."""
        if self.clock() - self.last >= QUIET_SECONDS:
            self.say(f"{text}  ({done}/{total})")

    def say(self, text: str) -> None:
        """A line."""
        self.last = self.clock()
        print(text, file=self.stream, flush=True)


class LiveDisplay:
    """One line with a bar that redraws itself."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.bar: TaskID = progress.add_task("", total=1)

    def update(self, text: str, done: int, total: int) -> None:
        """Redraw."""
        self.progress.update(self.bar, description=text, completed=done, total=total)

    def say(self, text: str) -> None:
        """A line above the bar."""
        self.progress.console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def display() -> Iterator[Display]:
    """The display for standard error as it is: live on a terminal, plain elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainDisplay(sys.stderr)
        return
    columns = (BarColumn(bar_width=24), TextColumn("{task.percentage:>3.0f}%"), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        yield LiveDisplay(progress)


def clock_time(seconds: float) -> str:
    """Seconds as minutes and seconds, or hours.

    >>> clock_time(75), clock_time(3700)
    ('1:15', '1:01:40')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
