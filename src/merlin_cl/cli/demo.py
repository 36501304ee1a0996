"""`merlin demo`: Split MNIST with MERLIN, beside the paper's figure and beside the exemplar-only control."""

from dataclasses import dataclass, replace
from pathlib import Path

from merlin_cl.cli.options import option_names, parse
from merlin_cl.cli.run import compute
from merlin_cl.commands import merlin
from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.report.closing import print_closing
from merlin_cl.report.summary import summarise
from merlin_cl.report.tables import print_scores
from merlin_cl.report.text import console, say, say_next
from merlin_cl.runs.config import RunConfig
from merlin_cl.streams.registry import stream_settings

METHODS: tuple[type[EnsembleSettings], ...] = (MerlinSettings, GDumbEnsembleSettings)
MODELS = 10
"""That answer in the demonstration. By default MERLIN has a few more and the control three times as many."""


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
        "Learn Split MNIST with MERLIN, then with the control that knows the exemplars alone; under a minute, as "
        f"ensembles of {MODELS} models answer."
    )
    options = parse(DemoOptions, argv, "demo", about, option_names(DemoOptions))
    folders = [compute(config, options.out) for config in configurations(options)]
    rows = summarise(folder.result() for folder in folders)
    out, usual = console(), METHODS[0].preset("default", stream_settings("split-mnist")().info()).models
    print_scores(out, rows)
    out.print()
    print_closing(out, rows)
    say(
        f"What MERLIN has above {METHODS[1].method}, the stream taught it. To be quick, both have {MODELS} models answer; "
        f"`merlin run split-mnist` has {usual}.\n"
        f"Written to {' and '.join(str(folder.path) for folder in folders)}"
    )
    say_next(merlin("diagnose", folders[0].path), "merlin run --help")


def configurations(options: DemoOptions) -> list[RunConfig]:
    """MERLIN and its control on the same stream, with the same exemplars and as many models."""
    stream = stream_settings("split-mnist")()
    presets = [kind.preset("default", stream.info()) for kind in METHODS]
    return [
        RunConfig(stream, replace(preset, models=MODELS), seed=options.seed, threads=options.threads)
        for preset in presets
    ]
