"""`merlin tune`: choose a method's settings for a stream on held-out training images of its first tasks."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tuning.plan import Plan, first_tasks


@dataclass(frozen=True)
class TuneOptions:
    """What to search, and how long."""

    method: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="METHOD")]
    """The method whose settings are searched."""
    stream: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[STREAM]")] = "split-mnist"
    """The stream they are to suit."""
    trials: int = 20
    """Settings that are tried in all; a search that has fewer goes on from where it is."""
    tasks: int = 3
    """The first tasks of the stream, which are all that a trial learns."""
    seeds: tuple[int, ...] = Plan.seeds
    """Each trial learns these tasks once for each seed; take none that you will report results for."""
    batch_size: int = Plan.batch_size
    """Examples that arrive together."""
    out: Path = Path("tuning")
    """The folder that holds searches."""
    data: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """A folder with data sets; without it the usual places, then what the package brings along."""
    json: Flag = False
    """Print what was chosen, and every trial, as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    searched = ", ".join(name for name in method_names() if method_settings(name).space)
    about = (
        "Choose a method's settings for a stream by Optuna, on held-out training images of its first tasks, never on test "
        "data. The first trial is the method's own defaults. An interrupted search goes on when the command is given "
        f"again.\nMethods: {searched}."
    )
    options = parse(TuneOptions, argv, "tune", about, option_names(TuneOptions))
    plan = Plan(
        method=method_settings(options.method),
        stream=first_tasks(stream_settings(options.stream), options.tasks),
        seeds=options.seeds,
        batch_size=options.batch_size,
    )
    from merlin_cl.report.text import parts
    from merlin_cl.runs.folder import read_json
    from merlin_cl.runs.progress import display
    from merlin_cl.tuning.chosen import run_command
    from merlin_cl.tuning.search import search

    print(
        f"{options.method} on held-out images of {options.stream}, {options.tasks} tasks", file=sys.stderr, flush=True
    )
    with display() as show:
        folder = search(plan, options.out, options.trials, None if options.data is None else str(options.data), show)
    chosen = read_json(folder.chosen)
    if options.json:
        print(json.dumps(chosen))
    else:
        before = chosen["value_before"]
        gained = "" if before is None else f" (with the defaults {before:.2f})"
        print(f"{chosen['value']:.2f}{gained}: {parts(chosen['settings'])}")
    print(f"Written to {folder.chosen}", file=sys.stderr)
    print(f"Next: {run_command(chosen, options.data)}", file=sys.stderr)
