"""The diagnosis as one picture: what base models knew, what sampled ones know, how far they differ and what more are worth."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merlin_cl.report.diagnosis_verdict import Knowledge, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, GRID, BAND = "#222222", "#6b6b6b", "#dedede", "#f6f6f6"
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
"""Of Okabe and Ito's colours, which every eye tells apart; shapes differ as well."""
DASHED: dict[str, Any] = {"color": FAINT, "linestyle": (0, (4, 3)), "linewidth": 1.2, "zorder": 1}


@dataclass(frozen=True)
class Mark:
    """How one quantity is drawn."""

    label: str
    colour: str
    shape: str
    value: Callable[[Knowledge], float | None]
    hollow: bool = False

    def style(self, size: float) -> dict[str, Any]:
        """For matplotlib."""
        return {
            "color": self.colour,
            "marker": self.shape,
            "markersize": size,
            "markeredgewidth": 1.5,
            "markeredgecolor": self.colour,
            "markerfacecolor": "white" if self.hollow else self.colour,
            "linestyle": "none",
            "label": self.label,
            "zorder": 3,
            "clip_on": False,
        }


ACCURACY = (
    Mark("base ensemble", INK, "D", lambda task: task.base, hollow=True),
    Mark("sampled right after learning", BLUE, "o", lambda task: task.learned),
    Mark("sampled after the last task", VERMILION, "s", lambda task: task.final),
    Mark("the last task's models, by replay", PURPLE, "v", lambda task: task.last),
    Mark("gdumb-ensemble, the same exemplars", GREEN, "^", lambda task: task.control, hollow=True),
)
DIVERSITY = (
    Mark("base", INK, "D", lambda task: task.base_diversity, hollow=True),
    Mark("learned", BLUE, "o", lambda task: task.learned_diversity),
    Mark("end", VERMILION, "s", lambda task: task.final_diversity),
)
ERROR = (Mark("error", BLUE, "o", lambda task: task.relative_error),)
GAIN = (Mark("gain", VERMILION, "s", lambda task: None if task.single is None else task.final - task.single),)


def draw(tasks: Sequence[Knowledge], verdict: Verdict, title: str, formats: Sequence[str]) -> dict[str, bytes]:
    """The picture as the content of a file, for each format."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "font.size": 9.5,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.parse_math": False,  # a stream may have a dollar in its name
        "svg.fonttype": "none",  # words stay words: small, and found by a search
        "svg.hashsalt": "merlin",  # the same result gives the same file
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(max(9.0, 4.5 + 0.65 * len(tasks)), 5.0), layout="constrained")
        _compose(figure, tasks, verdict, title)
        return {kind: _content(figure, kind) for kind in formats}


def _compose(figure: Figure, tasks: Sequence[Knowledge], verdict: Verdict, title: str) -> None:
    beside: list[Callable[[Axes, Sequence[Knowledge]], None]] = [
        panel
        for panel, marks in ((_errors, ERROR), (_gains, GAIN), (_diversities, DIVERSITY))
        if any(mark.value(task) is not None for task in tasks for mark in marks)
    ]
    figure.suptitle(_headline(verdict), x=0.01, ha="left", fontsize=11, fontweight="bold")
    grid = figure.add_gridspec(len(beside), 2, width_ratios=(2.3, 1)) if beside else figure.add_gridspec(1, 1)
    main = figure.add_subplot(grid[:, 0])
    _accuracies(main, tasks)
    main.set_title(title, fontsize=9.5, loc="left", color=FAINT)
    for place, panel in enumerate(beside):
        axes = figure.add_subplot(grid[place, 1])
        panel(axes, tasks)
        if place == len(beside) - 1:
            axes.set_xlabel("task")
    figure.legend(*main.get_legend_handles_labels(), loc="outside lower left", ncols=3, frameon=False, fontsize=9,
                  handletextpad=0.2, columnspacing=1.4)  # fmt: skip


def _accuracies(axes: Axes, tasks: Sequence[Knowledge]) -> None:
    """With a line from what the base models knew to what is left, and under each task how much that is."""
    places = _marks(axes, ACCURACY, tasks, spread=0.19)
    for task in tasks:
        path = [task.task + 1 + place for place in places[:3]], [task.base, task.learned, task.final]
        axes.plot(*path, color=FAINT, linewidth=1, zorder=2)
    chances = [(task.task + end, task.chance) for task in tasks if task.chance is not None for end in (0.5, 1.5)]
    if chances:
        axes.plot([x for x, _ in chances], [y for _, y in chances], **DASHED)
        axes.annotate(
            "chance", chances[-1], (-3, -4), textcoords="offset points", ha="right", va="top", fontsize=9, color=FAINT
        )
    shown = [value for task in tasks for mark in ACCURACY if (value := mark.value(task)) is not None]
    axes.set_ylim(max(0.0, min([*shown, *(y for _, y in chances)]) - 8), 101)
    axes.set_ylabel("accuracy among the task's classes (%)")
    _task_axis(axes, tasks, lambda task: f"\n{task.final - task.base:+.1f}".replace("-", "\N{MINUS SIGN}"))
    axes.set_xlabel("task; below it, points from the base ensemble to models sampled after the last task")


def _errors(axes: Axes, tasks: Sequence[Knowledge]) -> None:
    _marks(axes, ERROR, tasks)
    axes.axhline(1, **DASHED)
    axes.set_ylim(0, max(1.2, 1.1 * max(task.relative_error or 0 for task in tasks)))
    axes.set_title("decoding error (1: nothing decoded)", fontsize=9, loc="left")
    _task_axis(axes, tasks)


def _gains(axes: Axes, tasks: Sequence[Knowledge]) -> None:
    _marks(axes, GAIN, tasks)
    axes.axhline(0, **DASHED)
    axes.set_title("points: all sampled models above one", fontsize=9, loc="left")
    _task_axis(axes, tasks)


def _diversities(axes: Axes, tasks: Sequence[Knowledge]) -> None:
    _marks(axes, DIVERSITY, tasks, spread=0.22)
    axes.set_ylim(0, 1.1 * max(mark.value(task) or 0 for mark in DIVERSITY for task in tasks) or 1)
    axes.set_title("diversity: % two models differ on", fontsize=9, loc="left")
    _task_axis(axes, tasks)


def _marks(axes: Axes, marks: Sequence[Mark], tasks: Sequence[Knowledge], spread: float = 0.0) -> list[float]:
    """Every mark beside the others of its task, so that equal values hide none: gives how far to the right each is."""
    shown = [mark for mark in marks if any(mark.value(task) is not None for task in tasks)]
    size = 6.5 if len(tasks) <= 6 else 5.0
    places = [spread * (place - (len(shown) - 1) / 2) for place in range(len(shown))]
    for place, mark in zip(places, shown, strict=True):
        points = [(task.task + 1 + place, value) for task in tasks if (value := mark.value(task)) is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], **mark.style(size))
    return places


def _task_axis(axes: Axes, tasks: Sequence[Knowledge], below: Callable[[Knowledge], str] = lambda _: "") -> None:
    """Tasks on bands, named by their number."""
    every = 1 if len(tasks) <= 20 else 5
    named = [task for task in tasks if task.task % every == 0]
    axes.set_xlim(0.5, len(tasks) + 0.5)
    axes.set_xticks([task.task + 1 for task in named], [f"{task.task + 1}{below(task)}" for task in named])
    axes.tick_params(axis="x", length=0, pad=7)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for task in tasks[::2]:
        axes.axvspan(task.task + 0.5, task.task + 1.5, color=BAND, zorder=0, linewidth=0)


def _headline(verdict: Verdict) -> str:
    first, more = verdict.sentences[0], len(verdict.sentences) - 1
    return first if not more else f"{first} (and {more} more)"


def _content(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=144, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
