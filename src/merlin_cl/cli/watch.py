"""`merlin watch`: the report page served on this machine, live while runs and grids go on."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import option_names, parse
from merlin_cl.errors import MissingPathError


@dataclass(frozen=True)
class WatchOptions:
    """Which runs, and where they can be watched."""

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[RUNS ...]")] = (Path("runs"),)
    """Folders that hold run folders or a grid, now or later; all but `runs` must be there."""
    port: int = 8477
    """The port on 127.0.0.1; 0: any that is free."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Serve the report page on this machine, live while runs and grids go on; Ctrl-C ends it, never the runs."
    options = parse(WatchOptions, argv, "watch", about, option_names(WatchOptions))

    from merlin_cl.report.watch import Watch
    from merlin_cl.report.watch_server import WatchServer

    roots = options.runs or (Path("runs"),)
    for root in roots:
        if not root.is_dir() and root != Path("runs"):
            raise MissingPathError(f"{root} is not a folder; make it first to watch what will come there.")
        if not root.is_dir():
            print(f"{root} is not there yet; runs appear when they begin.", file=sys.stderr)
    with WatchServer(Watch(roots), options.port) as server:
        print(server.url, flush=True)
        print("Open this address in a browser; Ctrl-C ends the watch.", file=sys.stderr, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("The watch has ended; runs go on.", file=sys.stderr)
