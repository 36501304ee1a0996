"""`merlin reproduce`: the paper's tables and figures, computed and set beside its numbers."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.grid import EngineOptions
from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.paper.experiment import Experiment, experiment, experiment_names
from merlin_cl.paper.trials import QUICK_TASKS, ExperimentLine, TrialOptions, trials

RETRIES = 1


@dataclass(frozen=True)
class ReproduceOptions:
    """What to reproduce, and how much of it."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[NAME]")] = "list"
    """A table or figure, `all`, or `list` to see which there are."""
    seeds: int = 5
    """Seeds of every run, from 0 on; the paper has five."""
    quick: Flag = False
    """A first look: one seed and two tasks a stream, labelled as such wherever the numbers are shown."""
    tasks: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Only the first tasks of every stream; set beside the paper's where it has figures for so many."""
    images_per_task: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Only so many training images a task, where the data at hand have no more."""
    datasets: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = ""
    """Only these data sets of the heterogeneous stream, with commas between them."""
    streams: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = ""
    """Only these streams, with commas between them."""
    methods: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = ""
    """Only these methods, with commas between them."""
    out: Path = Path("reproduced")
    """The folder for tables and figures; the runs are below it in runs/."""
    data: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """A folder with data sets; without it the usual places, then what the package brings along."""


@dataclass(frozen=True)
class Command:
    """The whole command."""

    reproduce: ReproduceOptions
    engine: EngineOptions


def main(argv: list[str]) -> None:
    """Run the command."""
    listed = "\n".join(f"- {name}: {experiment(name).title} ({experiment(name).where})" for name in experiment_names())
    about = (
        "Compute a table or figure of the paper and set it beside the paper's numbers: on the terminal, as CSV, Markdown and "
        f"LaTeX, and as a figure (SVG, PDF). What is computed already is not computed again.\n\n{listed}\n- all: each of them"
    )
    command = parse(Command, argv, "reproduce", about, option_names(ReproduceOptions, EngineOptions))
    options = command.reproduce
    if options.name == "list":
        from merlin_cl.report.text import say

        say(listed, sys.stdout)
        print("Next: merlin reproduce main --streams split-mnist --quick", file=sys.stderr)
        return
    names = experiment_names() if options.name == "all" else [options.name]
    choice = _choice(options)
    wanted = {name: _trials(experiment(name), choice, everything=options.name == "all") for name in names}
    failures = _compute([trial for several in wanted.values() for trial in several], choice, options, command.engine)
    for name in names:
        if wanted[name]:
            _tell(experiment(name), wanted[name], choice, options.out, failures)
    if failures:
        raise MerlinError(f"{len(failures)} runs failed; the same command tries these again and nothing else.")


def _choice(options: ReproduceOptions) -> TrialOptions:
    def names(text: str) -> tuple[str, ...]:
        return tuple(name.strip() for name in text.split(",") if name.strip())

    return TrialOptions(
        seeds=1 if options.quick else options.seeds,
        tasks=options.tasks or (QUICK_TASKS if options.quick else None),
        images_per_task=options.images_per_task,
        datasets=names(options.datasets),
        streams=names(options.streams),
        methods=names(options.methods),
        data=None if options.data is None else str(options.data.expanduser().resolve()),
        quick=options.quick,
    )


def _trials(chosen: Experiment, choice: TrialOptions, *, everything: bool) -> list[ExperimentLine]:
    """The trials of a table; of all tables, those that have a stream and a method that is wanted."""
    if not everything:
        return trials(chosen, choice)
    try:
        return trials(chosen, choice)
    except UsageError:
        return []


def _compute(
    wanted: list[ExperimentLine], choice: TrialOptions, options: ReproduceOptions, engine: EngineOptions
) -> list[str]:
    """Compute all runs of all trials, and give each trial its results; the answer names the runs that failed, and why.

    A stream whose data are not here is left out with the reason, unless it was asked for by name.
    """
    from merlin_cl.cli.grid import compute_jobs
    from merlin_cl.runs.jobs import Checker, Job
    from merlin_cl.runs.progress import display

    runs = options.out / "runs"
    learning = [trial for trial in wanted if trial.experiment.kind != "sizes"]
    jobs: dict[int, list[Job]] = {}
    with display() as show:
        checker = Checker(show)
        for trial in learning:
            try:
                jobs[id(trial)] = checker.jobs(trial.configs)
            except MerlinError as error:
                if choice.streams:
                    raise
                trial.reason = str(error)
                show.say(f"Left out: {trial.line.title} on {trial.stream.stream}. {error}")
    state = None
    if jobs:
        state = compute_jobs([job for several in jobs.values() for job in several], runs, engine, RETRIES)
    for trial in learning:
        for job in jobs.get(id(trial), []):
            folder = job.folder(runs)
            if folder is not None and folder.finished:
                trial.folders[job.config.seed] = folder
                trial.results[job.config.seed] = folder.result()
    return [] if state is None else [f"{entry.run or entry.job.stem}: {entry.reason}" for entry in state.of("failed")]


def _tell(chosen: Experiment, done: list[ExperimentLine], choice: TrialOptions, out: Path, failures: list[str]) -> None:
    """The table on standard output, files in the folder."""
    from merlin_cl.paper.cells import cells_of
    from merlin_cl.report.closing import PLAIN
    from merlin_cl.report.reproduction import Reproduction, in_words, terminal_tables
    from merlin_cl.report.reproduction_files import write_files
    from merlin_cl.report.text import console, say

    reproduction = Reproduction(chosen, [cell for trial in done for cell in cells_of(trial)], choice.label, failures)
    screen = console()
    screen.print(reproduction.title, style="bold", markup=False)
    for table in terminal_tables(reproduction, screen.width):
        screen.print(table)
    screen.print("\n".join(reproduction.remarks), markup=False)
    screen.print(in_words(reproduction), style=PLAIN, markup=False)
    written = write_files(reproduction, done, out / (f"{chosen.name}-quick" if choice.quick else chosen.name))
    say(f"Written: {', '.join(map(str, written))}")
