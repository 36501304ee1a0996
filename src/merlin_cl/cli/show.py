"""`merlin show`: the results of one run, or of several over their seeds."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import UsageError
from merlin_cl.report.summary import contests, summarise
from merlin_cl.report.tables import contests_table, curve_table, facts_of, scores_caption, scores_table
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
    results = [folder.result() for folder in finished]
    if not results:
        raise UsageError("There is no finished run to show; `merlin list` tells how far each has come.")
    rows = summarise(results)
    if options.json:
        runs = [{"folder": str(folder.path), **result} for folder, result in zip(finished, results, strict=True)]
        summary, comparisons = [row.record() for row in rows], [contest.record() for contest in contests(rows)]
        print(json.dumps({"summary": summary, "comparisons": comparisons, "runs": runs}))
        return
    out = console()
    out.print(scores_table(rows), scores_caption(rows), sep="")
    if compared := contests(rows):
        out.print("", contests_table(compared, rows), sep="\n")
    if len(results) == 1:
        out.print("", curve_table(results[0]), facts_of(results[0]), sep="\n")
    print(f"Next: merlin diagnose {finished[0].path}", file=sys.stderr)


def _runs_in(folder: Path) -> list[RunFolder]:
    if (folder / "config.json").exists() or not folder.is_dir():
        return [RunFolder.open(folder)]
    runs = run_folders(folder)
    if not runs:
        raise UsageError(f"{folder} is no run folder and holds none; `merlin list DIR` shows the runs in a folder.")
    return runs
