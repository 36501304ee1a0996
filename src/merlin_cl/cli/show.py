"""`merlin show`: the results of one run, or of several over their seeds."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro
from rich.table import Table

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.report.closing import print_closing
from merlin_cl.report.page.progress import run_progress
from merlin_cl.report.page.sources import read_run
from merlin_cl.report.summary import Result, contests, summarise
from merlin_cl.report.tables import (
    calibration_table,
    contests_tables,
    curve_table,
    facts_of,
    other_kinds_table,
    print_scores,
    scores_caption,
    scores_tables,
)
from merlin_cl.report.text import PLAIN_WIDTH, console, say, say_next
from merlin_cl.runs.folder import RunFolder, run_folders


@dataclass(frozen=True)
class ShowOptions:
    """Which runs."""

    folders: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[DIR ...]")] = (Path("runs"),)
    """Run folders, or folders that hold some."""
    json: Flag = False
    """Print the results as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "The results of one run, or of several: runs that differ in their seeds alone become one row."
    options = parse(ShowOptions, argv, "show", about, option_names(ShowOptions))
    folders = [run for folder in options.folders or (Path("runs"),) for run in _runs_in(folder)]
    finished = [folder for folder in folders if folder.finished]
    begun, left_out = _begun([folder for folder in folders if not folder.finished])
    results, problems = _readable(finished)
    for problem in [*left_out, *problems]:
        say(f"Left out: {problem}")
    for each in begun:
        say(f"Note: {each.path} is not finished; the tasks it has done come first.")
    if not results and not begun:
        raise UsageError("There is no finished run to show; `merlin list` tells how far each has come.")
    rows = summarise(results.values())
    if options.json:
        runs = [{"folder": str(path), **result} for path, result in results.items()]
        summary, comparisons = [row.record() for row in rows], [contest.record() for contest in contests(rows)]
        unfinished = [{"folder": str(each.path), **each.progress, "result": each.result} for each in begun]
        print(json.dumps({"summary": summary, "comparisons": comparisons, "runs": runs, "unfinished": unfinished}))
        return
    out = console()
    for each in begun:
        say(each.heading, sys.stdout)
        out.print(curve_table(each.result, out.width))
    if not results:
        return
    print_scores(out, rows)
    for table in contests_tables(contests(rows), rows):
        out.print("", table, sep="\n")
    if len(results) == 1:
        (result,) = results.values()
        out.print("", *_tables_of_one(result, out.width), facts_of(result), sep="\n")
    out.print()
    print_closing(out, rows)
    say_next(merlin("diagnose", next(iter(results))))


def _tables_of_one(result: Result, width: int = PLAIN_WIDTH) -> list[Table]:
    """What a single run has to say beside its row."""
    tables = (curve_table(result, width), calibration_table(result), other_kinds_table(result))
    return [table for table in tables if table is not None]


class Begun(NamedTuple):
    """A run that is not finished and has scores of the tasks done."""

    path: Path
    result: Result
    progress: dict[str, Any]

    @property
    def heading(self) -> str:
        """What became of it."""
        state, reason = self.progress["state"], self.progress["reason"]
        after = f"{self.path} {_HAS[state]} {self.result['tasks']} of {self.progress['tasks']} tasks"
        if state == "failed":
            return f"{after}: {reason}"
        return after + ("." if state == "running" else f"; `{merlin('resume', self.path)}` goes on.")


_HAS = {"running": "has done", "failed": "failed after", "stopped": "was stopped after", "interrupted": "ended after"}


def _begun(folders: list[RunFolder]) -> tuple[list[Begun], list[str]]:
    """Runs that are not finished, those that have scores and why others are left out."""
    begun, problems = [], []
    for folder in folders:
        try:
            run = read_run(folder.path)
            progress = run_progress(run, folder.busy)
            curve_table(run.result)
        except MerlinError as error:
            problems.append(str(error))
            continue
        except Exception as error:  # whatever nobody thought of
            problems.append(_cannot_be_shown(folder, error))
            continue
        if run.result["scores"]:
            shown = {name: progress[name] for name in ("state", "reason", "done", "tasks")}
            begun.append(Begun(folder.path, run.result, shown))
        elif progress["state"] == "failed":
            problems.append(f"{folder.path} failed in its first task: {progress['reason']}")
        else:
            problems.append(f"{folder.path} is not finished; `{merlin('resume', folder.path)}` goes on.")
    return begun, problems


def _cannot_be_shown(folder: RunFolder, error: Exception) -> str:
    return f"{folder.path} cannot be shown ({type(error).__name__}: {error}); please report this."


def _readable(folders: list[RunFolder]) -> tuple[dict[Path, Result], list[str]]:
    """The results that can be shown, and why others cannot: one bad run hides no others."""
    results: dict[Path, Result] = {}
    problems = []
    for folder in folders:
        try:
            result = folder.result()
            rows = summarise([result])
            for _ in (*scores_tables(rows, 80), scores_caption(rows), *_tables_of_one(result), facts_of(result)):
                pass
            results[folder.path] = result
        except MerlinError as error:
            problems.append(str(error))
        except Exception as error:  # whatever nobody thought of
            problems.append(_cannot_be_shown(folder, error))
    return results, problems


def _runs_in(folder: Path) -> list[RunFolder]:
    if (folder / "config.json").exists() or not folder.is_dir():
        return [RunFolder.open(folder)]
    runs = run_folders(folder)
    if not runs:
        raise UsageError(f"{folder} is no run folder and holds none; `merlin list DIR` shows the runs in a folder.")
    return runs
