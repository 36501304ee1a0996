"""`merlin tune`: choose a method's settings for a stream, or for one's own data, on held-out training examples."""

import json
import sys
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.text import Text

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.user_data.paths import kind_of, looks_like_a_path, settings_for
from merlin_cl.tuning.plan import Plan, searched


@dataclass(frozen=True)
class TuneOptions:
    """What to search, and how long."""

    method: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="METHOD")]
    """The method whose settings are searched."""
    stream: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[STREAM]")] = "split-mnist"
    """The stream they are to suit, or a path of your own data: a folder of images, a .csv, .parquet or .npz file."""
    trials: int = 20
    """Settings that are tried in all, as many for every method you compare; a search that has fewer goes on."""
    seeds: tuple[int, ...] = Plan.seeds
    """Each trial learns the tasks once for each seed; take none that you will report results for."""
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
    options, plan = planned(argv)
    from merlin_cl.report.closing import PLAIN
    from merlin_cl.report.text import console, parts, say, say_next
    from merlin_cl.runs.folder import read_json
    from merlin_cl.runs.progress import display
    from merlin_cl.tuning.best import run_command
    from merlin_cl.tuning.search import search

    print(
        f"{options.method} on held-out examples of {plan.title}, {plan.info.tasks} tasks", file=sys.stderr, flush=True
    )
    with display() as show:
        folder = search(plan, options.out, options.trials, show)
    chosen = read_json(folder.chosen)
    if options.json:
        print(json.dumps(chosen))
    else:
        before = chosen["value_before"]
        gained = "" if before is None else f" (with the defaults {before:.2f})"
        out = console()
        out.print(f"{chosen['value']:.2f}{gained}: {parts(chosen['settings'])}", markup=False)
        out.print(Text(_closing(options.method, chosen["value"], before), style=PLAIN))
    say(f"Written to {folder.chosen}")
    say_next(run_command(plan, chosen))


def _closing(method: str, value: float, before: float | None) -> str:
    """What came of a search, in words."""
    if before is None:
        return f"In words: {method} answered {value:.1f} % of held-out examples right with these settings."
    if value <= before:
        return f"In words: nothing tried was better for {method} than its defaults, {before:.1f} % right on held-out examples."
    return (
        f"In words: these settings gain {method} {value - before:.1f} points on held-out examples, {value:.1f} % right; how many "
        "points on test examples, only runs with seeds that the search has not seen can tell."
    )


def planned(argv: list[str]) -> tuple[TuneOptions, Plan]:
    """Options and search from a command line, whose parser depends on the stream it names."""
    names = [word for word in argv[:2] if not word.startswith("-")]
    name = names[1] if len(names) == 2 else TuneOptions.stream
    path = Path(name).expanduser() if name not in stream_names() and looks_like_a_path(name) else None
    of_path = kind_of if {"--help", "-h"} & set(argv) else settings_for  # for help the data need not be there yet
    parsed = _parse(argv, searched(stream_settings(name) if path is None else of_path(path)))
    options: TuneOptions = parsed.options
    if path is not None and options.data is not None:
        raise UsageError(f"{name} are the data; --data is for streams that are named.")
    data = path or options.data
    plan = Plan(
        method=method_settings(options.method),
        stream=parsed.stream_settings,
        seeds=options.seeds,
        batch_size=options.batch_size,
        data=None if data is None else str(data),
    )
    return options, plan


def _parse(argv: list[str], stream: Any) -> Any:
    command = make_dataclass(
        "Command",
        [
            ("options", Annotated[TuneOptions, tyro.conf.arg(name="tune")]),
            ("stream_settings", Annotated[type(stream), tyro.conf.arg(name=stream.stream)], stream),
        ],
        frozen=True,
    )
    names = ", ".join(name for name in method_names() if method_settings(name).space)
    about = (
        "Choose a method's settings for a stream or for your own data by Optuna, on held-out training examples of the stream's "
        "first tasks, never on test data. The first trial is what the method has without a search. An interrupted search goes on "
        f"when the command is given again.\nMethods: {names}."
    )
    return parse(command, argv, "tune", about, option_names(TuneOptions, stream))
