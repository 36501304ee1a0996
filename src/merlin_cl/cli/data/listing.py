"""`merlin data list`: which data sets are here, and how to get those that are not."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table
from rich.text import Text

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.report.closing import GOOD, PLAIN
from merlin_cl.report.columns import Column, plain_table, table_of
from merlin_cl.report.text import NONE, console, say, say_next, size
from merlin_cl.streams.catalogue import ENTRIES, Entry
from merlin_cl.streams.data_dirs import find, searched, usual_folders
from merlin_cl.streams.registry import BUILT_IN

EMBEDDED = "a slice within the package"
WIDE = 100
"""Columns of a terminal that has room for everything."""


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
    out.print(_data_table(data_sets, out.width), _stream_table(streams), sep="\n")
    ready = sum(not one["lacking"] for one in streams)
    lacking = [one["name"] for one in data_sets if not one["present"] and one["download_bytes"]]
    out.print(Text(f"{ready} of {len(streams)} streams are ready.", style=PLAIN if ready < len(streams) else GOOD))
    say(f"Looked in {' and '.join(folders)}; `merlin data get NAME` puts data sets into {usual_folders()[0]}.")
    if lacking:
        say_next(f"merlin data get {lacking[0]}")


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


def _data_table(data_sets: list[dict[str, Any]], width: int) -> Table:
    """Every data set; on a terminal of less than `WIDE` columns without what it is checked by and its licence."""
    columns = [
        Column[dict[str, Any]]("data set", lambda one: one["name"], left=True),
        Column[dict[str, Any]](
            "where", lambda one: one["folder"] or (EMBEDDED if one["embedded"] else "not here"), left=True
        ),
        Column[dict[str, Any]](
            "size", lambda one: size(amount) if (amount := one["bytes"] or one["download_bytes"]) else NONE
        ),
        Column[dict[str, Any]]("download", lambda one: "yes" if one["download_bytes"] else "by hand", left=True),
    ]
    if width >= WIDE:
        columns += [
            Column[dict[str, Any]]("checked by", lambda one: one["checked_by"] or NONE, left=True),
            Column[dict[str, Any]]("licence", lambda one: one["licence"], left=True),
        ]
    return table_of(columns, data_sets)


def _stream_table(streams: list[dict[str, Any]]) -> Table:
    table = plain_table()
    for heading in ("stream", "reads", "state"):
        table.add_column(heading, no_wrap=heading == "stream")
    for one in streams:
        state = "ready" if not one["lacking"] else f"lacks {', '.join(one['lacking'])}"
        table.add_row(one["name"], ", ".join(one["data_sets"]), state)
    return table
