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
SOON = 0.5
"""Seconds of the first task before anything is said of the time left."""
TELLING = 0.1
"""Share of a task's batches from which on they tell how long all of them take."""
ANSWERING = "evaluate"
"""The phase in which test examples of all tasks so far are answered."""
CLEARLY = 0.33
"""How much longer than after the first task what follows the learning has to last before it is taken to grow as it has grown."""
PARTS = 1000
"""That the bar of a run counts in."""
BAR, BESIDE = 40, 60
"""Columns of a bar where there is room, and those that the words beside it may take."""


class Display(Protocol):
    """Where progress is shown."""

    def update(self, text: str, done: int, total: int) -> None:
        """Something moved."""

    def say(self, text: str) -> None:
        """A line that stays."""


class Forecast:
    """Estimates the time left: learning takes what it takes now, and what follows it grows from task to task as it has grown.

    After the first task nothing has grown yet: answering the test examples (the phase `evaluate`) is taken to grow with the
    number of tasks, and whatever else follows the learning not to, until it has clearly grown: on a machine with other work
    one task takes a little longer than another. Until that is known, it is taken to last half as long as the learning, and to
    be answering. After a resume, before a task has been learned, each is taken to last a little longer
    than the one before. A phase under way is never taken to be over before its steps are.
    """

    def __init__(self, tasks: int, taken: list[float], clock: Callable[[], float] = time.monotonic) -> None:
        self.tasks = tasks
        self.taken = taken  # seconds of each task done; shared with the run, which keeps it in the checkpoint
        self.clock = clock
        self.begun = clock()
        self.task_begun = self.begun
        self._learned = 0.0  # share of the current task's batches
        self._learning: float | None = None  # seconds that all batches of the newest task took
        self._after: list[
            tuple[float, float]
        ] = []  # of tasks: seconds after their batches, and those of them spent answering
        self._answering = 0.0  # seconds of the current task
        self._phase, self._phase_share = "", 1.0
        self._phase_begun = self._last_step = self.begun

    def begin_task(self) -> None:
        """A task starts now."""
        self.task_begun = self._phase_begun = self._last_step = self.clock()
        self._phase, self._phase_share = "", 1.0
        self._learned = self._answering = 0.0

    def step(self, phase: str, share: float) -> None:
        """So much of a phase of the current task is done; `learn` is the one of its batches."""
        if phase != self._phase or share < self._phase_share:
            self._phase_begun = self._last_step
        if phase == ANSWERING:
            self._answering += self.clock() - self._last_step
        self._phase, self._phase_share, self._last_step = phase, share, self.clock()
        if phase == "learn":
            self._learned = share
            if share >= TELLING:
                self._learning = (self.clock() - self.task_begun) / share

    def end_task(self) -> None:
        """The task is over: remember how long it took."""
        self.taken.append(round(self.clock() - self.task_begun, 3))
        if self._learning is not None:
            after = max(0.0, self.taken[-1] - self._learning)
            self._after.append((after, min(after, self._answering)))

    def elapsed(self) -> float:
        """Seconds since this process started the run."""
        return self.clock() - self.begun

    def left(self) -> float | None:
        """Seconds until the whole run is done; None in the first moments of the first task."""
        if not self.taken:
            return self._left_of_all()
        done, following = len(self.taken), range(1, self.tasks - len(self.taken) + 1)
        if self._learning is not None and self._after:
            (first, _), (after, answering), known = self._after[0], self._after[-1], len(self._after)
            clear = after > first * (1 + CLEARLY)
            growth = (after - first) / (known - 1) if clear else answering / done
            ahead = [self._learning + after + growth * step for step in following]
        else:
            growth = max(0.0, (self.taken[-1] - self.taken[0]) / max(1, done - 1))
            ahead = [self.taken[-1] + growth * step for step in following]
        if not ahead:
            return 0.0
        return max(self._left_of_phase(), ahead[0] - (self.clock() - self.task_begun)) + sum(ahead[1:])

    def _left_of_phase(self) -> float:
        """Seconds until the steps of the phase under way are done, each as long as those before it."""
        gone = self._last_step - self._phase_begun
        return gone * (1 - self._phase_share) / self._phase_share if self._phase_share > 0 else 0.0

    def _left_of_all(self) -> float | None:
        """While the first task is being learned."""
        gone = self.clock() - self.task_begun
        if gone < SOON or not self._learned:
            return None
        learned = self._learned >= 1 and self._learning is not None
        learning = self._learning if learned and self._learning is not None else gone / self._learned
        under_way = self._left_of_phase() * learned
        rest = max(learning / 2, gone - learning + under_way)
        other = gone - learning - self._answering + under_way * (self._phase != ANSWERING) if learned else 0.0
        answering = rest - max(0.0, other)
        return max(0.0, self.tasks * (learning + rest) + answering * self.tasks * (self.tasks - 1) / 2 - gone)

    def share(self) -> float:
        """How much of the whole run is done, by time; 0 while nobody can tell."""
        left = self.left()
        gone = sum(self.taken) + (self.clock() - self.task_begun if len(self.taken) < self.tasks else 0.0)
        return 0.0 if left is None or gone + left <= 0 else gone / (gone + left)


class RunProgress:
    """Tells a display what the run is doing: task, phase, how much of the run is done, how long it took, how much longer."""

    def __init__(self, display: Display, tasks: int, taken: list[float]) -> None:
        self.display = display
        self.tasks = tasks
        self.task = max(0, len(taken) - 1)  # until one begins; after a resume none may be left to begin
        self.forecast = Forecast(tasks, taken)
        self._shown = 0

    def begin(self, task: int) -> None:
        """Task `task` starts."""
        self.task = task
        self.forecast.begin_task()

    def told(self, phase: str, done: int, total: int) -> None:
        """A step of a phase is done (this is a learner's listener). The bar is of the whole run and never goes back."""
        self.forecast.step(phase, done / max(1, total))
        times = f"{clock_time(self.forecast.elapsed())} elapsed"
        left = self.forecast.left()
        if left is not None:
            times += f", about {clock_time(left)} left"
        self._shown = max(self._shown, round(PARTS * self.forecast.share()))
        self.display.update(f"task {self.task + 1}/{self.tasks}  {phase:<11} {times}", self._shown, PARTS)

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
            self.say(f"{text}  ({100 * done // max(1, total)} %)")

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
        self.progress.console.print(text, highlight=False, markup=False)


@contextmanager
def display() -> Iterator[Display]:
    """The display for standard error as it is: live on a terminal, plain elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainDisplay(sys.stderr)
        return
    bar = BarColumn(bar_width=max(8, min(BAR, console.width - BESIDE)))
    columns = (bar, TextColumn("{task.percentage:>3.0f}%"), TextColumn("{task.description}", markup=False))
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
