"""`merlin resume`: go on with a run that was interrupted."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.cli.run import tell
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.sinks import SinkName, relays


@dataclass(frozen=True)
class ResumeOptions:
    """Which run."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]
    """The run folder, as `merlin list` shows it."""
    data: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Where the data are now, if they were moved."""
    sink: tuple[SinkName, ...] = ()
    """Where events go besides the run folder: tensorboard, mlflow, or both."""
    json: Flag = False
    """Print the result as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Go on with a run that was interrupted, from its last checkpoint, to the result it would have had."
    options = parse(ResumeOptions, argv, "resume", about, option_names(ResumeOptions))
    folder = RunFolder.open(options.folder)
    if not folder.finished:
        from merlin_cl.runs.progress import display
        from merlin_cl.runs.run import resume

        with display() as show:
            folder.listeners = relays(options.sink, show.say)
            resume(folder, show, None if options.data is None else str(options.data.expanduser().resolve()))
    tell(folder, as_json=options.json)
