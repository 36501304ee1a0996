"""`merlin data get`: fetch data sets, checked, into the data folder."""

import sys
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import tyro

from merlin_cl.cli.data.names import named
from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.report.text import size
from merlin_cl.runs.progress import Display, display
from merlin_cl.streams.catalogue import Entry
from merlin_cl.streams.catalogue.fetch import get
from merlin_cl.streams.data_dirs import find, usual_folders

SCHEMES = ("https", "http", "file")
"""Of addresses that files are fetched from."""


@dataclass(frozen=True)
class GetOptions:
    """What to fetch."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME ...")]
    """Data sets, as `merlin data list` names them, or streams."""
    mirror: Annotated[str | None, tyro.conf.arg(metavar="URL")] = None
    """An address to try first; the name of each file is put after it."""
    again: Flag = False
    """Fetch and replace what is there already."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = (
        "Fetch data sets into the data folder, from several mirrors in turn, each file checked. One that is cut off goes on "
        "where it stopped when called again. Where the terms do not allow this, it says what to do by hand."
    )
    options = parse(GetOptions, argv, "data get", about, option_names(GetOptions))
    if not options.names:
        raise UsageError("merlin data get wants the name of a data set or a stream; `merlin data list` shows them.")
    if options.mirror is not None and urlsplit(options.mirror).scheme not in SCHEMES:
        raise UsageError(f"--mirror {options.mirror} is no address; give one that begins with {', '.join(SCHEMES)}.")
    failures = []
    with display() as show:
        for entry in named(options.names):
            try:
                _get(entry, options, show)
            except MerlinError as error:  # the others can be had all the same
                failures.append(error)
    for failure in failures[:-1]:
        print(f"merlin: {failure}", file=sys.stderr)
    if failures:
        raise failures[-1]


def _get(entry: Entry, options: GetOptions, show: Display) -> None:
    def told(file: str, there: int, total: int) -> None:
        show.update(f"{file}  {size(there)} of {size(total)}", there, total)

    if entry.downloads:
        show.say(f"{entry.title}: {size(entry.download_size)}, licence: {entry.licence}")
    written = get(entry, usual_folders()[0], told, mirror=options.mirror, again=options.again)
    place = find(entry)
    if place is None:
        raise MerlinError(f"{entry.title} was fetched, but is not in {usual_folders()[0]}; please report this.")
    print(f"{entry.name} {'written to' if written else 'is already in'} {place}")
