"""The figures of docs/paper.md: how far decoded weights are from those they stand for, and what each kind of models answers."""

from io import StringIO
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from merlin_cl.metrics import mean
from merlin_cl.paper.published import published
from merlin_cl.report.text import stream_title

Groups = dict[tuple[str, str], list[dict[str, Any]]]
COLOURS = {
    "decoded": "#999999",
    "untrained": "#E69F00",
    "sampled": "#0072B2",
    "rescaled": "#56B4E9",
    "fresh": "#009E73",
}
"""Okabe and Ito's, which differ for the colour-blind too."""
READINGS = {"text": "#0072B2", "code": "#CC79A7"}
PAPER, ZEROS = "#D55E00", "#666666"
ROOM = 30
"""Percent that a bar has to have for its figure to stand on it."""


def decoder_figure(groups: Groups) -> Figure:
    """A column a stream: the error after each task above own-task accuracy of decoded and base models, a colour a reading."""
    streams = list(dict.fromkeys(stream for stream, _ in groups))
    figure = Figure(figsize=(3.4 * max(2, len(streams)), 5.6), layout="constrained")
    panels = figure.subplots(2, len(streams), squeeze=False)
    for column, stream in enumerate(streams):
        errors, own_task = panels[0][column], panels[1][column]
        for (_, reading), records in _of_stream(groups, stream):
            colour, tasks = READINGS[reading], range(1, len(records[0]["tasks"]) + 1)
            for name, label, style in (("reconstructed", "encoded and decoded", "-o"), ("sampled", "sampled", "--s")):
                values = _by_task(records, "relative_error", name)
                errors.plot(tasks, values, style, ms=4, color=colour, label=f"{label}, {reading}")
            for name, label, style in (("base_ensemble", "base models", "-^"), ("sampled_ensemble", "decoded", "--o")):
                values = _by_task(records, "own_task", name)
                own_task.plot(tasks, values, style, ms=4, color=colour, label=f"{label}, {reading}")
        errors.axhline(1, color=ZEROS, lw=1, label="zeros")
        errors.set_ylim(bottom=0)
        own_task.plot(tasks, _by_task(records, "own_task", "chance"), ":", color=ZEROS, label="guessing")
        own_task.set_ylim(0, 102)
        own_task.set_xlabel("task", fontsize=8)
        errors.set_title(stream_title(stream), fontsize=9)
        for axes in (errors, own_task):
            axes.set_xticks(list(tasks))
            axes.tick_params(labelsize=7)
            axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("distance from base models,\nover their length", fontsize=8)
    panels[1][0].set_ylabel("accuracy on the task just\nlearned, not fine-tuned (%)", fontsize=8)
    for row in panels:
        lines, labels = row[0].get_legend_handles_labels()
        row[-1].legend(lines, labels, fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def models_figure(groups: Groups, kinds: dict[str, str]) -> Figure:
    """A row a stream, a column a reading: average incremental accuracy of every kind of models, a dot a seed, and the paper's."""
    streams, readings = (list(dict.fromkeys(key[part] for key in groups)) for part in (0, 1))
    figure = Figure(figsize=(3.6 * len(readings), 2.4 * len(streams)), layout="constrained")
    panels = figure.subplots(len(streams), len(readings), squeeze=False, sharex=True, sharey=True)
    for (stream, reading), records in groups.items():
        axes = panels[streams.index(stream)][readings.index(reading)]
        for place, kind in enumerate(kinds):
            values = [mean([task["accuracy"][kind] for task in one["tasks"]]) for one in records]
            axes.barh(place, mean(values), color=COLOURS[kind], alpha=0.5)
            axes.plot(values, [place] * len(values), "o", ms=3, color=COLOURS[kind])
            inside = mean(values) > ROOM
            side = (max(values) + 3, "left") if not inside else (min(values) - 3, "right")
            axes.text(side[0], place, f"{mean(values):.1f}", fontsize=8, ha=side[1], va="center")
        if (paper := published("main", "merlin", stream, "A")) is not None:
            axes.axvline(paper.mean, color=PAPER, lw=1.2, ls="--")
            axes.text(
                paper.mean - 3, 0, f"the paper's {paper.mean:g}", color=PAPER, fontsize=8, ha="right", va="center"
            )
        axes.set_title(f"{stream_title(stream)}, as in the {reading}", fontsize=9)
        axes.tick_params(labelsize=8)
        axes.grid(axis="x", alpha=0.3)
    panels[0][0].set_yticks(range(len(kinds)), kinds.values())
    panels[0][0].invert_yaxis()
    panels[0][0].set_xlim(0, 100)
    for axes in panels[-1]:
        axes.set_xlabel("average incremental accuracy (%)", fontsize=8)
    return figure


def as_svg(figure: Figure, name: str) -> str:
    """Return a figure as SVG, the same text for the same numbers."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _of_stream(groups: Groups, stream: str) -> list[tuple[tuple[str, str], list[dict[str, Any]]]]:
    return [(key, records) for key, records in groups.items() if key[0] == stream]


def _by_task(records: list[dict[str, Any]], part: str, name: str) -> list[float]:
    return [mean([one["tasks"][task][part][name] for one in records]) for task in range(len(records[0]["tasks"]))]
