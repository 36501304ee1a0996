"""`merlin diagnose`: what a run forgot, task by task, and what its learner says of itself."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import MerlinError
from merlin_cl.report.diagnosis import CONTROL, diagnose, forgetting_table, is_control_of, probes_table
from merlin_cl.report.summary import Result, changed_stream
from merlin_cl.report.text import console, parts, size
from merlin_cl.runs.folder import RunFolder, run_folders


@dataclass(frozen=True)
class DiagnoseOptions:
    """Which run."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]
    """The run folder, as `merlin list` shows it."""
    json: Flag = False
    """Print the diagnosis as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = (
        f"What a run forgot, task by task, beside {CONTROL} on the same stream and seed if that is in the same folder."
    )
    options = parse(DiagnoseOptions, argv, "diagnose", about, option_names(DiagnoseOptions))
    folder = RunFolder.open(options.folder)
    result = folder.result()
    control = _control_of(folder, result)
    found = diagnose(result, control.result() if control else None)
    if options.json:
        print(json.dumps({"folder": str(folder.path), "control": str(control.path) if control else None, **found}))
        return

    out = console()
    for score in found["scores"]:
        out.print(forgetting_table(score))
    if found["probes"]:
        out.print(probes_table(found["probes"]))
    else:
        out.print(f"{result['method']} has no probes, so there is nothing more to say of where the accuracy went.")
    for name, stored in ((result["method"], found["stored_bytes"]), (CONTROL, found["control_stored_bytes"])):
        if stored is not None:
            kinds = {kind: size(count) for kind, count in stored.items()}
            out.print(f"stored by {name}: {size(sum(stored.values()))} ({parts(kinds)})")
    if control is None and result["method"] != CONTROL:
        print(
            f"Without a finished {CONTROL} run on the same stream and seed there is nothing to compare with; next: "
            f"{_command_for_control(result, folder.path.parent)}",
            file=sys.stderr,
        )


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


def _command_for_control(result: Result, root: Path) -> str:
    options = [f"--{name.replace('_', '-')} {value}" for name, value in changed_stream(result).items()]
    if result["exemplars"] is not None:
        options.append(f"--exemplars {result['exemplars']}")
    return " ".join(
        ["merlin run", result["stream"], f"--method {CONTROL} --seed {result['seed']} --out {root}", *options]
    )
