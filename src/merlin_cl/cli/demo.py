"""`merlin demo`: Split MNIST with MERLIN, beside the paper's figure and beside the exemplar-only control."""

import sys
from dataclasses import dataclass
from pathlib import Path

from merlin_cl.cli.options import option_names, parse
from merlin_cl.cli.run import compute
from merlin_cl.learners.registry import method_settings
from merlin_cl.report.summary import summarise
from merlin_cl.report.tables import scores_caption, scores_table
from merlin_cl.report.text import console
from merlin_cl.runs.config import RunConfig
from merlin_cl.streams.registry import stream_settings

METHODS = ("merlin", "gdumb-ensemble")


@dataclass(frozen=True)
class DemoOptions:
    """How to run it."""

    seed: int = 0
    """Draws the data, their order and all else that is random."""
    out: Path = Path("runs")
    """The folder that holds run folders."""
    threads: int = 1
    """CPU threads."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Learn Split MNIST with MERLIN, then with the control that knows the exemplars alone; about a minute."
    options = parse(DemoOptions, argv, "demo", about, option_names(DemoOptions))
    stream = stream_settings("split-mnist")()
    folders = []
    for name in METHODS:
        method = method_settings(name).preset("default", stream.info())
        folders.append(compute(RunConfig(stream, method, seed=options.seed, threads=options.threads), options.out))
    rows = summarise(folder.result() for folder in folders)
    console().print(scores_table(rows), scores_caption(rows), sep="")
    print(
        f"\n{METHODS[1]} trains on the same exemplars and nothing else: what MERLIN has above it, the stream taught it."
        f"\nWritten to {' and '.join(str(folder.path) for folder in folders)}"
        f"\nNext: merlin diagnose {folders[0].path}   or   merlin run --help",
        file=sys.stderr,
    )
