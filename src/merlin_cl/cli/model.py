"""`merlin model`: what is in the file of a saved learner; with `--upgrade`, the same in the newest format."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import MerlinError, UsageError

if TYPE_CHECKING:
    from merlin_cl.learners.saving.contents import Contents

INDENT = 14
"""Columns of names."""
NAMED = 12
"""Classes, settings or columns that are named in a line; of more, how many there are."""


@dataclass(frozen=True)
class ModelOptions:
    """Which file, and what to do with it."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """A saved learner, or the folder of a run that has ended."""
    upgrade: Flag = False
    """Write it again in the format of this version, whole or not at all; it answers as before."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """With --upgrade: where to write it; MODEL itself unless told otherwise."""
    network: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A network of your own (package.module:factory), if the learner has one: naming it here says that you trust it."""
    features: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The features that the learner learned from, if it did: a name, an .onnx file or package.module:factory, which you trust."""
    json: Flag = False
    """Print it as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "What is in the file of a saved learner: method, classes, tasks, inputs, exemplars, bytes. Nothing in it is run."
    options = parse(ModelOptions, argv, "model", about, option_names(ModelOptions))
    from merlin_cl.learners.saving.contents import contents
    from merlin_cl.runs.model_file import path_of_model

    if options.out is not None and not options.upgrade:
        raise UsageError(f"--out {options.out} says where to write an upgraded file; add --upgrade.")
    path = path_of_model(options.model.expanduser())
    if options.upgrade:
        if options.model.expanduser().is_dir() and options.out is None:
            raise UsageError(
                f"{options.model} is the record of a run, which stays as it is; say where to write with --out."
            )
        path = _upgraded(path, options)
    told = contents(path)
    usable, why = _usable(path, options)
    if options.json:
        print(json.dumps({**told.record(), "usable": usable, "why_not": why}))
        return
    for name, value in [*_lines(told), ("usable", "yes" if usable else f"no: {why}")]:
        print("\n".join(_wrapped(f"{name:<{INDENT}}{value}")))


def _upgraded(path: Path, options: ModelOptions) -> Path:
    """Read a file of any version and write it as this one does."""
    from merlin_cl.estimator import load
    from merlin_cl.learners.saving.contents import contents
    from merlin_cl.statefile import held

    out = path if options.out is None else options.out.expanduser()
    before = contents(path)
    with held(path):
        load(path, network=options.network, features=options.features).save(out)
    after = contents(out)
    print(
        f"{out}: format {before.format}, written by merlin-cl {before.written_by}, is format {after.format} now.",
        file=sys.stderr,
    )
    return out


def _wrapped(line: str) -> list[str]:
    """A line as a terminal has room for it, what is said of a name below itself; whole where nobody looks at a terminal."""
    if not sys.stdout.isatty():
        return [line]
    width, indent = shutil.get_terminal_size().columns, " " * INDENT
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _usable(path: Path, options: ModelOptions) -> tuple[bool, str | None]:
    """Whether this version can load it, and otherwise why not."""
    from merlin_cl.estimator import load

    try:
        load(path, network=options.network, features=options.features)
    except MerlinError as error:
        return False, str(error)
    return True, None


def _lines(told: Contents) -> list[tuple[str, str]]:
    columns = f", columns {_some(told.columns)}" if told.columns else ""
    standardised = ", standardised" if told.standardised else ""
    kept = sum(told.exemplars.values())
    lines = [
        ("file", f"{told.path}, {told.bytes:,} bytes, format {told.format}, written by merlin-cl {told.written_by}"),
        ("method", f"{told.method}, seed {told.seed}"),
        ("settings", _some([f"{name} {_value(value)}" for name, value in sorted(told.settings.items())], most=99)),
        ("inputs", f"{told.input_type} of shape {told.input_shape}{columns}{standardised}"),
        ("classes", f"{len(told.classes)}: {_some(told.classes)}"),
    ]
    for number, task in enumerate(told.tasks):
        going_on = ", not ended" if told.learning and number == len(told.tasks) - 1 else ""
        lines.append((f"task {number}", f"{task['name']}: {_some(task['classes'])}{going_on}"))
    by_class = _some([f"{name} {count}" for name, count in told.exemplars.items()])
    lines.append(("exemplars", f"{kept}: {by_class}" if kept else "none"))
    lines.append(("held back", f"{told.held_back:,} examples to calibrate with" if told.held_back else "none"))
    parts = sorted(told.parts.items(), key=lambda part: -part[1])
    lines.append(("bytes", _some([f"{name} {size:,}" for name, size in parts])))
    if told.network is not None:
        lines.append(("needs", f"{told.network}, code outside this package"))
    return lines


def _some(values: list[Any], most: int = NAMED) -> str:
    shown = ", ".join(map(str, values[:most]))
    return shown if len(values) <= most else f"{shown}, and {len(values) - most:,} more"


def _value(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
