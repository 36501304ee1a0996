"""The paper's tables as figures, ours beside the paper's, and its own two figures. Saved as SVG and PDF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merlin_cl.paper.cells import Cell
from merlin_cl.paper.losses import Curves
from merlin_cl.paper.samples import Samples, embedded
from merlin_cl.report.reproduction import Reproduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's, which differ for the colour-blind too."""
OURS, PAPER = COLOURS[0], COLOURS[1]
COLUMNS = 3
"""Panels beside each other at most."""


def scores_figure(reproduction: Reproduction) -> Figure | None:
    """Average accuracy of every line, a panel a stream: ours with its 95 % interval, the paper's with its deviation."""
    streams = _by_stream(cell for cell in reproduction.cells if cell.measure == "A" and (cell.values or cell.paper))
    if not streams:
        return None
    figure, panels = _panels(len(streams), 4.6, 1.9 + 0.3 * max(map(len, streams.values())))
    for axes, (stream, cells) in zip(panels, streams.items(), strict=True):
        for place, cell in enumerate(cells):
            if cell.paper is not None:
                axes.errorbar(
                    cell.paper.mean, place + 0.12, xerr=cell.paper.std, fmt="D", color=PAPER, mfc="white", ms=5
                )
            if cell.mean is not None:
                low, high = cell.interval or (cell.mean, cell.mean)
                reach = [[cell.mean - low], [high - cell.mean]]
                axes.errorbar(cell.mean, place - 0.12, xerr=reach, fmt="o", color=OURS, ms=5, capsize=2)
                if cell.interval is None:  # every seed by itself
                    axes.plot(list(cell.values.values()), [place - 0.12] * len(cell.values), "o", color=OURS, ms=2.5)
        axes.set_yticks(range(len(cells)), [_name(cell) for cell in cells])
        axes.invert_yaxis()
        axes.set_title(_heading(stream, cells), fontsize=9)
        axes.set_xlabel("average incremental accuracy (%)", fontsize=8)
        axes.grid(axis="x", alpha=0.3)
    _legend(figure, {"ours (95 % interval)": ("o", OURS), "paper (±)": ("D", PAPER)})
    return _finished(figure, reproduction)


def curves_figure(reproduction: Reproduction) -> Figure | None:
    """Accuracy on the tasks seen after each task, a panel a stream: ours drawn through, the paper's dashed."""
    streams = _by_stream(cell for cell in reproduction.cells if cell.values or cell.paper)
    if not streams:
        return None
    figure, panels = _panels(len(streams), 4.4, 3.4)
    names = list(dict.fromkeys(_name(cell) for cell in reproduction.cells))
    for axes, (stream, cells) in zip(panels, streams.items(), strict=True):
        for name in dict.fromkeys(_name(cell) for cell in cells):
            curve = [cell for cell in cells if _name(cell) == name]
            _draw_curve(axes, curve, COLOURS[names.index(name) % len(COLOURS)], name)
        axes.set_title(_heading(stream, cells), fontsize=9)
        axes.set_xlabel("tasks learned", fontsize=8)
        axes.set_ylabel("accuracy on them (%)", fontsize=8)
        axes.grid(alpha=0.3)
    handles = {name: ("o", COLOURS[number % len(COLOURS)]) for number, name in enumerate(names)}
    _legend(figure, handles, extra="dashed: the paper")
    return _finished(figure, reproduction)


def losses_figure(reproduction: Reproduction, curves: Curves) -> Figure:
    """Every loss against steps, a panel a loss: each task thin, their mean thick."""
    figure, panels = _panels(len(curves), 3.6, 3.0)
    for number, (axes, (kind, by_task)) in enumerate(zip(panels, curves.items(), strict=True)):
        for curve in by_task.values():
            axes.plot(range(1, len(curve) + 1), curve, color=COLOURS[number], alpha=0.25, lw=0.8)
        mean = [sum(values) / len(values) for values in zip(*by_task.values(), strict=True)]
        axes.plot(range(1, len(mean) + 1), mean, color=COLOURS[number], lw=2)
        axes.set_title(kind.replace("_", " "), fontsize=9)
        axes.set_xlabel("step (each task thin, their mean thick)", fontsize=8)
        axes.grid(alpha=0.3)
    return _finished(figure, reproduction)


def priors_figure(reproduction: Reproduction, samples: Samples) -> Figure:
    """Samples of the tasks' priors, and the weights they decode to by t-SNE; a colour a task."""
    from merlin_cl.report.page.latent import plane

    figure, (left, right) = _panels(2, 4.0, 3.8)
    means = [samples.latents[samples.tasks == task].mean(axis=0) for task in sorted(set(samples.tasks))]
    axes, _ = plane(_stacked(means))
    flat = samples.latents @ axes.T
    exact = samples.latents.shape[1] <= 2
    views = ((left, flat, "samples of the priors" + ("" if exact else ", the plane in which they differ most")),)
    for panel, points, title in (*views, (right, embedded(samples), "their weights, t-SNE")):
        for task in sorted(set(samples.tasks)):
            chosen = points[samples.tasks == task]
            colour = _task_colour(int(task))
            panel.scatter(chosen[:, 0], chosen[:, 1], s=10, color=colour, label=f"task {task + 1}")
        panel.set_title(title, fontsize=9)
        panel.tick_params(labelsize=7)
    right.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return _finished(figure, reproduction)


def save(figure: Figure, path: Path) -> list[Path]:
    """Write the figure beside `path` in every format, without the date: the same numbers give the same file."""
    import matplotlib

    written = []
    for kind in FORMATS:
        target = path.with_name(f"{path.name}.{kind}")
        undated: dict[str, Any] = {"Date": None} if kind == "svg" else {"CreationDate": None}
        with matplotlib.rc_context({"svg.hashsalt": path.name, "svg.fonttype": "none"}):
            figure.savefig(target, bbox_inches="tight", metadata=undated)
        written.append(target)
    return written


def _draw_curve(axes: Axes, curve: list[Cell], colour: str, name: str) -> None:
    ours = [(_task(cell.measure), cell.mean, cell) for cell in curve if cell.mean is not None]
    if ours:
        axes.plot([task for task, _, _ in ours], [m for _, m, _ in ours], "o-", color=colour, ms=3, lw=1.4, label=name)
        sure = [(task, *cell.interval) for task, _, cell in ours if cell.interval is not None]
        if sure:
            tasks, low, high = zip(*sure, strict=True)
            axes.fill_between(tasks, low, high, color=colour, alpha=0.15, lw=0)
        else:  # every seed by itself
            for task, _, cell in ours:
                axes.plot([task] * len(cell.values), list(cell.values.values()), ".", color=colour, ms=3, alpha=0.6)
    paper = [(_task(cell.measure), cell.paper.mean) for cell in curve if cell.paper is not None]
    if paper:
        axes.plot(*zip(*paper, strict=True), "--", color=colour, lw=1)
    axes.set_xticks([_task(cell.measure) for cell in curve])


def _panels(count: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    drawn = [axes for row in figure.subplots(rows, columns, squeeze=False) for axes in row]
    for axes in drawn[count:]:
        axes.set_visible(False)
    return figure, drawn[:count]


def _legend(figure: Figure, handles: dict[str, tuple[str, str]], extra: str = "") -> None:
    from matplotlib.lines import Line2D

    drawn = [
        Line2D(
            [], [], marker=marker, color=colour, lw=0, label=name, markerfacecolor="white" if marker == "D" else colour
        )
        for name, (marker, colour) in handles.items()
    ]
    if extra:
        drawn.append(Line2D([], [], color="grey", ls="--", label=extra))
    figure.legend(handles=drawn, loc="outside lower center", ncols=min(4, len(drawn)), fontsize=8, frameon=False)


def _finished(figure: Figure, reproduction: Reproduction) -> Figure:
    figure.suptitle("\n".join(filter(None, [reproduction.title, reproduction.label])), fontsize=10)
    return figure


def _by_stream(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    streams: dict[str, list[Cell]] = {}
    for cell in cells:
        streams.setdefault(cell.stream, []).append(cell)
    return streams


def _heading(stream: str, cells: list[Cell]) -> str:
    return ", ".join([stream, *dict.fromkeys(cell.view for cell in cells if cell.view is not None)])


def _name(cell: Cell) -> str:
    return cell.line.title if cell.inference is None else f"{cell.line.title}, {cell.inference}"


def _task(measure: str) -> int:
    return int(measure.removeprefix("task "))


def _task_colour(task: int) -> Any:
    import matplotlib

    return matplotlib.colormaps["tab20" if task >= 10 else "tab10"](task % 20)


def _stacked(rows: list[Any]) -> Any:
    import numpy as np

    return np.stack(rows)
