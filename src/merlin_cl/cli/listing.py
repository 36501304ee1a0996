"""`merlin list`: the runs in a folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, MissingPathError
from merlin_cl.report.columns import Column, fitting, table_of
from merlin_cl.report.page.progress import state_of
from merlin_cl.report.text import console, percent, say, say_next
from merlin_cl.runs.folder import RunFolder, run_folders

UNREADABLE = "unreadable: "
AVERAGE = "average_incremental_accuracy"
SHOWN = ("view", "inference", AVERAGE, "final_accuracy", "forgetting", "backward_transfer")


@dataclass(frozen=True)
class ListOptions:
    """Where to look."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="[DIR]")] = Path("runs")
    """The folder that holds run folders."""
    json: Flag = False
    """Print the list as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    options = parse(ListOptions, argv, "list", "The runs in a folder.", option_names(ListOptions))
    if options.folder != ListOptions.folder and not options.folder.is_dir():
        raise MissingPathError(f"{options.folder} is not a folder; name one that holds run folders.")
    entries = [entry_of(folder) for folder in run_folders(options.folder)]
    if options.json:
        print(json.dumps(entries))
    elif entries:
        out = console()
        out.print(listing_table(entries, out.width))
        for entry in entries:
            if entry["state"].startswith(UNREADABLE):
                out.print(f"{entry['run']}: {entry['state']}", markup=False)
        out.print("Views: average incremental accuracy in percent, by a method's first answer.")
        readable = [entry["run"] for entry in entries if not entry["state"].startswith(UNREADABLE)]
        if readable:
            say_next(merlin("show", options.folder / readable[0]))
    else:
        say(f"No runs in {options.folder}; `merlin demo` or `merlin run` makes the first.")


def listing_table(entries: list[dict[str, Any]], width: int) -> Table:
    """Runs in a folder: how far each has come, and its average incremental accuracy in every view."""
    views = dict.fromkeys(score["view"] for entry in entries for score in entry["scores"])
    columns = [
        Column[dict[str, Any]]("run", lambda entry: entry["run"], left=True),
        Column[dict[str, Any]]("state", lambda entry: entry["state"].split(":")[0], left=True),
        *(_view_column(view, worth=len(views) - place) for place, view in enumerate(views)),
    ]
    return table_of(fitting(columns, entries, width), entries)


def _view_column(view: str, worth: int) -> Column[dict[str, Any]]:
    def cell(entry: dict[str, Any]) -> str:
        averages = (score[AVERAGE] for score in entry["scores"] if score["view"] == view)
        return percent(next(averages, None))

    return Column(view.replace("-", "-\n", 1), cell, worth)


def entry_of(folder: RunFolder) -> dict[str, Any]:
    """A run in brief; one that cannot be read says why."""
    entry: dict[str, Any] = {"run": folder.path.name, "folder": str(folder.path), "scores": []}
    try:
        config = folder.config_record()
        done = max(
            (int(path.stem[len("task-") :]) for path in folder.checkpoints.glob("task-*.safetensors")), default=0
        )
        entry |= {
            "stream": config["stream"]["name"],
            "method": config["method"]["name"],
            "preset": config["preset"],
            "seed": config["seed"],
            "tasks": config["tasks"],
            "tasks_done": done,
        }
        if folder.finished:
            scores = folder.result()["scores"]
            return entry | {"state": "finished", "scores": [{name: score[name] for name in SHOWN} for score in scores]}
        state, _ = state_of(folder.events(), folder.busy)
        return entry | {"state": f"{state}, {done} of {config['tasks']} tasks"}
    except MerlinError as error:
        return entry | {"state": f"{UNREADABLE}{error}"}
    except (LookupError, TypeError, ValueError) as error:
        return entry | {"state": f"{UNREADABLE}{type(error).__name__}: {error}"}
