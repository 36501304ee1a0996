"""A reproduced table or figure on disk: CSV, Markdown, LaTeX, and the figure that belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merlin_cl.paper.losses import curves_with_total
from merlin_cl.paper.samples import samples_of
from merlin_cl.paper.trials import ExperimentLine
from merlin_cl.report import reproduction_figures as figures
from merlin_cl.report.reproduction import Reproduction, as_csv, as_latex, as_markdown
from merlin_cl.statefile import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRITERS = {"csv": as_csv, "md": as_markdown, "tex": as_latex}


def write_files(reproduction: Reproduction, trials: list[ExperimentLine], path: Path) -> list[Path]:
    """Write all forms beside `path`, which has no suffix; the answer is what was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for suffix, text in WRITERS.items():
        written.append(path.with_name(f"{path.name}.{suffix}"))
        write_whole(written[-1], text(reproduction).encode())
    figure = _figure(reproduction, trials)
    return written if figure is None else [*written, *figures.save(figure, path)]


def _figure(reproduction: Reproduction, trials: list[ExperimentLine]) -> Figure | None:
    """The figure of a table, or the paper's own; None where there is nothing to draw."""
    kind = reproduction.experiment.kind
    if kind == "scores":
        return figures.scores_figure(reproduction)
    if kind == "curves":
        return figures.curves_figure(reproduction)
    folders = [folder for trial in trials for folder in trial.folders.values()]
    if kind == "losses" and folders:
        return figures.losses_figure(reproduction, curves_with_total(folders[0]))
    if kind == "priors" and folders:
        return figures.priors_figure(reproduction, samples_of(folders[0]))
    return None
