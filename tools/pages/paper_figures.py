"""The figures of docs/paper.md: how far decoded weights are from those they stand for, and what each kind of models answers."""

from io import StringIO
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from merlin_cl.metrics import mean
from merlin_cl.paper.published import published
from merlin_cl.report.text import stream_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Groups = dict[tuple[str, str], list[dict[str, Any]]]
COLOURS = {
    "decoded": "#999999",
    "untrained": "#E69F00",
    "sampled": "#0072B2",
    "rescaled": "#56B4E9",
    "fresh": "#009E73",
}
"""Okabe and Ito's, which differ for the colour-blind too."""
PAPER, ZEROS = "#D55E00", "#666666"


def decoder_figure(groups: Groups) -> Figure:
    """A panel a stream and reading: the error after each task, and own-task accuracy of decoded and base models."""
    figure = Figure(figsize=(3.4 * len(groups), 5.2), layout="constrained")
    panels = figure.subplots(2, len(groups), squeeze=False)
    for column, ((stream, reading), records) in enumerate(groups.items()):
        tasks = range(1, len(records[0]["tasks"]) + 1)
        _errors(panels[0][column], records, tasks)
        _own_task(panels[1][column], records, tasks)
        panels[0][column].set_title(_panel_title(stream, reading), fontsize=9)
    panels[0][0].set_ylabel("distance from base models,\nover their length", fontsize=8)
    panels[1][0].set_ylabel("accuracy on the task just\nlearned, not fine-tuned (%)", fontsize=8)
    panels[0][0].legend(fontsize=7, frameon=False)
    panels[1][0].legend(fontsize=7, frameon=False)
    return figure


def _errors(axes: "Axes", records: list[dict[str, Any]], tasks: range) -> None:
    for name, label, style in (("reconstructed", "encoded and decoded", "-o"), ("sampled", "sampled", "--s")):
        axes.plot(tasks, _by_task(records, "relative_error", name), style, ms=4, color=COLOURS["sampled"], label=label)
    axes.axhline(1, color=ZEROS, lw=1, label="zeros")
    axes.set_ylim(bottom=0)
    _finish(axes, tasks)


def _own_task(axes: "Axes", records: list[dict[str, Any]], tasks: range) -> None:
    axes.plot(
        tasks, _by_task(records, "own_task", "base_ensemble"), "-^", ms=4, color=COLOURS["fresh"], label="base models"
    )
    axes.plot(
        tasks, _by_task(records, "own_task", "sampled_ensemble"), "-o", ms=4, color=COLOURS["sampled"], label="decoded"
    )
    axes.plot(tasks, _by_task(records, "own_task", "chance"), ":", color=ZEROS, label="guessing")
    axes.set_ylim(0, 102)
    axes.set_xlabel("task", fontsize=8)
    _finish(axes, tasks)


def models_figure(groups: Groups, kinds: dict[str, str]) -> Figure:
    """A panel a stream and reading: average incremental accuracy of every kind of models, a dot a seed, and the paper's."""
    figure = Figure(figsize=(3.4 * len(groups), 2.6), layout="constrained")
    for axes, ((stream, reading), records) in zip(
        figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True
    ):
        for place, kind in enumerate(kinds):
            values = [mean([task["accuracy"][kind] for task in one["tasks"]]) for one in records]
            axes.barh(place, mean(values), color=COLOURS[kind], alpha=0.5)
            axes.plot(values, [place] * len(values), "o", ms=3, color=COLOURS[kind])
            axes.text(mean(values) - 4, place, f"{mean(values):.1f}", fontsize=8, ha="right", va="center")
        if (paper := published("main", "merlin", stream, "A")) is not None:
            axes.axvline(paper.mean, color=PAPER, lw=1.2, ls="--")
            axes.text(
                paper.mean - 4, 0, f"the paper's {paper.mean:g}", color=PAPER, fontsize=8, ha="right", va="center"
            )
        axes.set_yticks(range(len(kinds)), kinds.values(), fontsize=8)
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_title(_panel_title(stream, reading), fontsize=9)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_xlabel("average incremental accuracy (%)", fontsize=8)
        axes.grid(axis="x", alpha=0.3)
    return figure


def _panel_title(stream: str, reading: str) -> str:
    return f"{stream_title(stream)}, as in the {reading}"


def as_svg(figure: Figure, name: str) -> str:
    """Return a figure as SVG, the same text for the same numbers."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _by_task(records: list[dict[str, Any]], part: str, name: str) -> list[float]:
    return [mean([one["tasks"][task][part][name] for one in records]) for task in range(len(records[0]["tasks"]))]


def _finish(axes: "Axes", tasks: range) -> None:
    axes.set_xticks(list(tasks))
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
