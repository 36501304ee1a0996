"""`merlin grid`: many runs from one file, on this machine or on a Ray cluster."""

import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.grid_file import read_grid
from merlin_cl.runs.grid_state import FILE, GridState
from merlin_cl.runs.jobs import Job


@dataclass(frozen=True)
class EngineOptions:
    """Where runs are computed."""

    engine: Literal["local", "ray"] = "local"
    """Processes of this machine, or a Ray cluster."""
    workers: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Runs at once on this machine; without it as many as there are cores for their threads (local)."""
    address: str = ""
    """The Ray cluster to use, as in HOST:6379 or auto; without it one is started on this machine (ray)."""
    store: Annotated[str, tyro.conf.arg(metavar="URL")] = ""
    """Where workers keep run folders if they cannot write to --out: any URL that fsspec knows, as in s3://bucket/grid (ray)."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers is {self.workers}; it must be at least 1.")
        for name, engine in (("address", "ray"), ("store", "ray"), ("workers", "local")):
            if getattr(self, name) and self.engine != engine:
                raise UsageError(f"--{name} is for --engine {engine}; the engine is {self.engine}.")


@dataclass(frozen=True)
class GridOptions:
    """What to run, and where to."""

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """The grid, a TOML file: streams, methods, seeds, settings."""
    out: Path = Path("runs")
    """The folder that holds run folders, and grid.json, which tells how far the grid is."""
    retries: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """How often a run that failed is tried again; without it what the file says, or 2."""
    dry_run: Flag = False
    """Check the file and the data, list the runs, start none."""
    json: Flag = False
    """Print the state of all runs as JSON."""


@dataclass(frozen=True)
class Command:
    """The whole command."""

    grid: GridOptions
    engine: EngineOptions


def main(argv: list[str]) -> None:
    """Run the command."""
    about = (
        "Compute all runs of a grid: streams x methods x settings x seeds. What is finished is skipped, what was interrupted "
        "goes on, what fails is tried again and does not stop the others. Killed and started again, it goes on."
    )
    command = parse(Command, argv, "grid", about, option_names(GridOptions, EngineOptions))
    options = command.grid
    if options.retries is not None and options.retries < 0:
        raise UsageError(f"retries is {options.retries}; it must be at least 0.")
    file = read_grid(options.file)
    retries = file.retries if options.retries is None else options.retries
    state = compute(file.configs, options.out, command.engine, retries, dry_run=options.dry_run)
    tell(state, options.out, as_json=options.json, dry_run=options.dry_run)


def compute(
    configs: list[RunConfig], root: Path, options: EngineOptions, retries: int, *, dry_run: bool = False
) -> GridState:
    """Check all configurations, then compute them with progress on standard error."""
    from merlin_cl.runs.jobs import Checker
    from merlin_cl.runs.progress import display

    print(f"{len(configs)} runs, engine {options.engine}", file=sys.stderr, flush=True)
    with display() as show:
        jobs = Checker(show).jobs(configs)
    return compute_jobs(jobs, root, options, retries, dry_run=dry_run)


def compute_jobs(
    jobs: list[Job], root: Path, options: EngineOptions, retries: int, *, dry_run: bool = False
) -> GridState:
    """Compute runs that were checked; on a dry run only tell which are finished."""
    from merlin_cl.runs.engines.choice import engine_for
    from merlin_cl.runs.grid import compute_grid
    from merlin_cl.runs.grid_state import state_of
    from merlin_cl.runs.progress import display

    threads = max(job.config.threads for job in jobs)
    # Ray prints what happens to its nodes to standard output, which is for results.
    with display() as show, contextlib.redirect_stdout(sys.stderr):
        engine = engine_for(options.engine, root, threads, options.workers, options.address, options.store)
        if not dry_run:
            return compute_grid(jobs, root, engine, retries, show)
        try:
            return state_of(jobs, root, engine.finished, engine.name)
        finally:
            engine.close()


def tell(state: GridState, root: Path, *, as_json: bool, dry_run: bool) -> None:
    """What came of it: results on standard output, failures on standard error and in the exit code."""
    from merlin_cl.report.text import say, say_next

    failed = state.of("failed")
    if as_json:
        print(json.dumps([entry.record() for entry in state.entries]))
    elif dry_run:
        for entry in state.entries:
            print(f"{entry.status:<8}{entry.run or entry.job.stem + '...'}")
    elif state.of("done"):
        _print_results(state, root)
    if dry_run:
        return
    for entry in failed:
        say(f"Failed after {entry.tries} tries: {entry.run or entry.job.stem}: {entry.reason}")
    say(f"Written to {root}, with {root / FILE}")
    if failed:
        raise MerlinError(
            f"{len(failed)} of {len(state.entries)} runs failed; the same command tries these again and nothing else."
        )
    say_next(merlin("show", root))


def _print_results(state: GridState, root: Path) -> None:
    from merlin_cl.report.closing import print_closing
    from merlin_cl.report.summary import contests, summarise
    from merlin_cl.report.tables import contests_tables, print_scores
    from merlin_cl.report.text import console
    from merlin_cl.runs.folder import RunFolder

    rows = summarise(RunFolder(root / entry.run).result() for entry in state.of("done") if entry.run)
    out = console()
    print_scores(out, rows)
    for table in contests_tables(contests(rows), rows):
        out.print("", table, sep="\n")
    out.print()
    print_closing(out, rows)
