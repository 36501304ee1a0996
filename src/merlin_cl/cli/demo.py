"""`merlin demo`: Split MNIST with MERLIN, beside the paper's figure and beside the exemplar-only control."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from merlin_cl.cli.options import option_names, parse
from merlin_cl.cli.run import compute
from merlin_cl.commands import merlin
from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.report.summary import summarise
from merlin_cl.report.tables import print_scores
from merlin_cl.report.text import console
from merlin_cl.runs.config import RunConfig
from merlin_cl.streams.registry import stream_settings

METHODS: tuple[type[EnsembleSettings], ...] = (MerlinSettings, GDumbEnsembleSettings)
MODELS = 10
"""That answer in the demonstration. By default there are three times as many, which takes twice the time to say the same."""


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
    about = (
        "Learn Split MNIST with MERLIN, then with the control that knows the exemplars alone; about half a minute, as "
        f"ensembles of {MODELS} models answer."
    )
    options = parse(DemoOptions, argv, "demo", about, option_names(DemoOptions))
    folders = [compute(config, options.out) for config in configurations(options)]
    rows = summarise(folder.result() for folder in folders)
    print_scores(console(), rows)
    print(
        f"\n{METHODS[1].method} trains on the same exemplars and nothing else: what MERLIN has above it, the stream taught it."
        f"\nTo be quick, both have {MODELS} models answer; `merlin run split-mnist` has {EnsembleSettings.models}."
        f"\nWritten to {' and '.join(str(folder.path) for folder in folders)}"
        f"\nNext: {merlin('diagnose', folders[0].path)}   or   merlin run --help",
        file=sys.stderr,
    )


def configurations(options: DemoOptions) -> list[RunConfig]:
    """MERLIN and its control on the same stream, with the same exemplars and as many models."""
    stream = stream_settings("split-mnist")()
    presets = [kind.preset("default", stream.info()) for kind in METHODS]
    return [
        RunConfig(stream, replace(preset, models=MODELS), seed=options.seed, threads=options.threads)
        for preset in presets
    ]
