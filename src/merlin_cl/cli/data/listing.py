"""`merlin data list`: which data sets are here, and how to get those that are not."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich import box
from rich.markup import escape
from rich.table import Table

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.report.text import NONE, console, size
from merlin_cl.streams.catalogue import ENTRIES, Entry
from merlin_cl.streams.data_dirs import find, searched, usual_folders
from merlin_cl.streams.registry import BUILT_IN

EMBEDDED = "a slice within the package"


@dataclass(frozen=True)
class DataListOptions:
    """Where to look."""

    data: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """The folder to look in; without it the usual ones."""
    json: Flag = False
    """Print the list as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Which data sets are here, where, under which licence, and how to get those that are not."
    options = parse(DataListOptions, argv, "data list", about, option_names(DataListOptions))
    data_sets = [described(entry, options.data) for entry in ENTRIES]
    here = {one["name"] for one in data_sets if one["present"]}
    streams: list[dict[str, Any]] = [
        {"name": name, "data_sets": list(kind.data_sets), "lacking": [one for one in kind.data_sets if one not in here]}
        for name, kind in BUILT_IN.items()
    ]
    folders = [str(folder) for folder in searched(options.data)]
    if options.json:
        print(
            json.dumps(
                {"folder": str(usual_folders()[0]), "searched": folders, "data_sets": data_sets, "streams": streams}
            )
        )
        return
    out = console()
    out.print(_data_table(data_sets), _stream_table(streams), sep="\n")
    print(
        f"Looked in {' and '.join(folders)}; `merlin data get` puts data sets into {usual_folders()[0]}.",
        file=sys.stderr,
    )


def described(entry: Entry, data: Path | None) -> dict[str, Any]:
    """What is to be said of a data set."""
    place = find(entry, data)
    embedded = place is None and entry.name == "mnist" and data is None
    return {
        "name": entry.name,
        "title": entry.title,
        "present": place is not None or embedded,
        "folder": None if place is None else str(place),
        "embedded": embedded,
        "bytes": None if place is None else sum(file.stat().st_size for file in place.rglob("*") if file.is_file()),
        "download_bytes": entry.download_size or None,
        "checked_by": entry.checked_by or None,
        "licence": entry.licence,
        "get": f"merlin data get {entry.name}" if entry.downloads else "by hand",
        "streams": [name for name, kind in BUILT_IN.items() if entry.name in kind.data_sets],
    }


def _data_table(data_sets: list[dict[str, Any]]) -> Table:
    table = _table("data set", "where", "size", "checked by", "licence", "how to get it")
    for one in data_sets:
        where = one["folder"] or (EMBEDDED if one["embedded"] else "not here")
        amount = one["bytes"] or one["download_bytes"]
        how = one["get"] if one["download_bytes"] else f"by hand: merlin data get {one['name']} says how"
        table.add_row(
            one["name"], escape(where), size(amount) if amount else NONE, one["checked_by"] or NONE, one["licence"], how
        )
    return table


def _stream_table(streams: list[dict[str, Any]]) -> Table:
    table = _table("stream", "reads", "state")
    for one in streams:
        state = "ready" if not one["lacking"] else f"lacks {', '.join(one['lacking'])}"
        table.add_row(one["name"], ", ".join(one["data_sets"]), state)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
