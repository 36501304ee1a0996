"""`merlin show`: the results of one run, or of several over their seeds."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.report.summary import Result, contests, summarise
from merlin_cl.report.tables import (
    calibration_table,
    contests_table,
    curve_table,
    facts_of,
    other_kinds_table,
    scores_caption,
    scores_table,
)
from merlin_cl.report.text import console
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
    for folder in folders:
        if not folder.finished:
            print(f"Left out: {folder.path} is not finished; `merlin resume {folder.path}` goes on.", file=sys.stderr)
    results, problems = _readable(finished)
    for problem in problems:
        print(f"Left out: {problem}", file=sys.stderr)
    if not results:
        raise UsageError("There is no finished run to show; `merlin list` tells how far each has come.")
    rows = summarise(results.values())
    if options.json:
        runs = [{"folder": str(path), **result} for path, result in results.items()]
        summary, comparisons = [row.record() for row in rows], [contest.record() for contest in contests(rows)]
        print(json.dumps({"summary": summary, "comparisons": comparisons, "runs": runs}))
        return
    out = console()
    out.print(scores_table(rows), scores_caption(rows), sep="")
    if compared := contests(rows):
        out.print("", contests_table(compared, rows), sep="\n")
    if len(results) == 1:
        (result,) = results.values()
        out.print("", *_tables_of_one(result), facts_of(result), sep="\n")
    print(f"Next: merlin diagnose {next(iter(results))}", file=sys.stderr)


def _tables_of_one(result: Result) -> list[Table]:
    """What a single run has to say beside its row."""
    tables = (curve_table(result), calibration_table(result), other_kinds_table(result))
    return [table for table in tables if table is not None]


def _readable(folders: list[RunFolder]) -> tuple[dict[Path, Result], list[str]]:
    """The results that can be shown, and why others cannot: one bad run hides no others."""
    results: dict[Path, Result] = {}
    problems = []
    for folder in folders:
        try:
            result = folder.result()
            rows = summarise([result])
            for _ in (scores_table(rows), scores_caption(rows), *_tables_of_one(result), facts_of(result)):
                pass
            results[folder.path] = result
        except MerlinError as error:
            problems.append(str(error))
        except Exception as error:  # whatever nobody thought of
            problems.append(f"{folder.path} cannot be shown ({type(error).__name__}: {error}); please report this.")
    return results, problems


def _runs_in(folder: Path) -> list[RunFolder]:
    if (folder / "config.json").exists() or not folder.is_dir():
        return [RunFolder.open(folder)]
    runs = run_folders(folder)
    if not runs:
        raise UsageError(f"{folder} is no run folder and holds none; `merlin list DIR` shows the runs in a folder.")
    return runs
