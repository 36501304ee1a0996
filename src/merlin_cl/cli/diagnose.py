"""`merlin diagnose`: what a run forgot, task by task, and what its learner says of itself."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.commands import merlin, option
from merlin_cl.errors import MerlinError, MissingPathError, UsageError
from merlin_cl.report.closing import PLAIN
from merlin_cl.report.diagnosis import (
    CONTROL,
    diagnose,
    exemplar_choice,
    forgetting_table,
    is_control_of,
    probes_table,
)
from merlin_cl.report.diagnosis_verdict import Knowledge, Verdict, judge, knowledge
from merlin_cl.report.page.command import stream_words
from merlin_cl.report.summary import Result, changed_stream
from merlin_cl.report.text import console, parts, say, size, stored_size
from merlin_cl.runs.folder import RunFolder, run_folders
from merlin_cl.statefile import write_whole

FORMATS = ("svg", "png")


@dataclass(frozen=True)
class DiagnoseOptions:
    """Which run."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]
    """The run folder, as `merlin list` shows it."""
    plot: Path | None = None
    """Where to put the plot, rather than in the run folder: a file that ends in .svg or .png, or a folder for both."""
    json: Flag = False
    """Print the diagnosis as JSON, without a plot."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = (
        "Whether a run's weight distribution holds the tasks and what was forgotten, task by task, in tables, words and one "
        f"plot; beside {CONTROL} on the same stream and seed if that is in the same folder."
    )
    options = parse(DiagnoseOptions, argv, "diagnose", about, option_names(DiagnoseOptions))
    folder = RunFolder.open(options.folder)
    result = folder.result()
    files = _plot_files(options, folder)
    control = _control_of(folder, result)
    beside = control.result() if control else None
    diagnosis = diagnose(result, beside)
    tasks = knowledge(result, beside, _classes(folder))
    verdict = judge(tasks)
    if options.json:
        diagnosis["verdict"] = None if verdict is None else verdict.record()
        print(json.dumps({"folder": str(folder.path), "control": str(control.path) if control else None, **diagnosis}))
        return

    _show(result, diagnosis, verdict)
    if verdict is not None:
        _draw(tasks, verdict, result, files)
    elif options.plot is not None:
        raise UsageError(f"{result['method']} has no sampled models to draw; leave --plot out.")
    if control is None and result["method"] != CONTROL:
        say(
            f"Without a finished {CONTROL} run on the same stream and seed there is nothing to compare with; next: "
            f"{_command_for_control(result, folder)}"
        )


def _show(result: Result, diagnosis: dict[str, Any], verdict: Verdict | None) -> None:
    out = console()
    for score in diagnosis["scores"]:
        out.print(forgetting_table(score))
    if diagnosis["probes"]:
        out.print(probes_table(diagnosis["probes"], out.width))
    else:
        out.print(f"{result['method']} has no probes, so there is nothing more to say of where the accuracy went.")
    for name, stored in ((result["method"], diagnosis["stored_bytes"]), (CONTROL, diagnosis["control_stored_bytes"])):
        if stored is not None:
            kinds = {kind: size(count) for kind, count in stored.items()}
            what = f"{size(sum(stored.values()))} ({parts(kinds)})" if kinds else stored_size(None)
            out.print(f"stored by {name}: {what}")
    for fact in verdict.facts if verdict else ():
        out.print(fact)
    for sentence in verdict.sentences if verdict else ():
        out.print(f"verdict: {sentence}", style=PLAIN)


def _plot_files(options: DiagnoseOptions, folder: RunFolder) -> list[Path]:
    """Where the plot goes; what cannot be is refused before any work."""
    if options.plot is None:
        return [folder.path / f"diagnosis.{kind}" for kind in FORMATS]
    if options.json:
        raise UsageError("--json prints the diagnosis without a plot; use --plot without it.")
    if options.plot.is_dir():
        return [options.plot / f"diagnosis.{kind}" for kind in FORMATS]
    if options.plot.suffix.lstrip(".") not in FORMATS:
        raise UsageError(f"--plot {options.plot} ends in neither .svg nor .png, nor is it a folder; give one of these.")
    if not options.plot.absolute().parent.is_dir():
        raise MissingPathError(
            f"{options.plot.parent} is not a folder; make it first, or choose another place with --plot."
        )
    return [options.plot]


def _draw(tasks: list[Knowledge], verdict: Verdict, result: Result, files: list[Path]) -> None:
    from merlin_cl.report.diagnosis_plot import draw

    title = f"{result['method']} on {result['stream']}, seed {result['seed']}"
    if result["preset"] != "default":
        title += f", preset {result['preset']}"
    title += "; sampled models are not fine-tuned"
    contents = draw(tasks, verdict, title, [file.suffix.lstrip(".") for file in files])
    for file in files:
        try:
            write_whole(file, contents[file.suffix.lstrip(".")])
        except OSError as error:
            raise MerlinError(f"Cannot write {file}: {error.strerror}; choose another place with --plot.") from None
    say(f"Written to {' and '.join(map(str, files))}")


def _classes(folder: RunFolder) -> list[int] | None:
    """How many classes each task has, as the last checkpoint tells; None where it is not there any more."""
    from merlin_cl.report.page.checkpoint_reader import opened

    with opened(max(folder.checkpoints.glob("task-*.safetensors"), default=None)) as kept:
        return None if kept is None else [len(classes) for classes in kept.task_classes]


def _control_of(folder: RunFolder, result: Result) -> RunFolder | None:
    """The finished control beside this run, if there is one."""
    if result["method"] == CONTROL:
        return None
    for other in run_folders(folder.path.resolve().parent):
        try:
            if other.finished and is_control_of(result, other.result()):
                return other
        except MerlinError:
            continue  # somebody else's damaged run is no reason to fail here
    return None


def _command_for_control(result: Result, folder: RunFolder) -> str:
    """What computes the control: the same stream from the same data, the same seed, as many exemplars chosen alike."""
    words = [*stream_words(result, folder.config_record().get("data")), "--method", CONTROL, "--seed", result["seed"]]
    settings = dict(changed_stream(result))
    if result["exemplars"] is not None:
        settings["exemplars"] = result["exemplars"]
    if (choice := exemplar_choice(result)) is not None:
        settings["exemplar_choice"] = choice
    options = [word for name, value in settings.items() for word in option(name, value)]
    return merlin("run", *words, "--out", folder.path.parent, *options)
