"""`merlin data verify`: are the data sets that are here as their publishers mean them, and can every example be read?"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich import box
from rich.markup import escape
from rich.table import Table

from merlin_cl.cli.data.names import named
from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.errors import InputError, MerlinError
from merlin_cl.report.text import console
from merlin_cl.runs.progress import Display, display
from merlin_cl.streams.catalogue import ENTRIES, Entry
from merlin_cl.streams.catalogue.verify import differing
from merlin_cl.streams.data_dirs import find, searched

BLOCK = 1000
"""Examples read at once."""


@dataclass(frozen=True)
class VerifyOptions:
    """What to check."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[NAME ...]")] = ()
    """Data sets or streams; without a name all data sets that are here."""
    data: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """The folder to look in; without it the usual ones."""
    json: Flag = False
    """Print the findings as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Compare data sets with the published checksums and read every example. Exit code 1 if anything is wrong."
    options = parse(VerifyOptions, argv, "data verify", about, option_names(VerifyOptions))
    with display() as show:
        findings = list(_findings(options, show))
    if options.json:
        print(json.dumps(findings))
    elif findings:
        console().print(_table(findings))
    else:
        print("No data sets are here yet; `merlin data list` says how to get them.", file=sys.stderr)
    wrong = [one["name"] for one in findings if not one["good"]]
    if wrong:
        raise MerlinError(
            f"Not as they should be: {', '.join(wrong)}; `merlin data get NAME --again` fetches a data set anew."
        )


def _findings(options: VerifyOptions, show: Display) -> Iterator[dict[str, Any]]:
    for entry in named(options.names) or ENTRIES:
        place = find(entry, options.data)
        if place is not None:
            yield _finding(entry, place, show)
        elif options.names:
            folders = " or ".join(map(str, searched(options.data)))
            raise InputError(
                f"There is no {entry.title} in {folders}; `merlin data get {entry.name}` gets it or says how."
            )


def _finding(entry: Entry, place: Path, show: Display) -> dict[str, Any]:
    show.update(f"{entry.title}: comparing checksums", 0, 1)
    wrong = [f"{file} {what}" for file, what in differing(entry, place).items()]
    counts: dict[str, int] = {}
    try:
        counts = _read(entry, place, show)
    except MerlinError as error:
        wrong.append(str(error))
    kind = entry.checked_by.partition(" (")[0]
    checked = f"as published ({kind})" if entry.published else "nothing is published to compare with"
    return {
        "name": entry.name,
        "folder": str(place),
        "good": not wrong,
        "checksums": checked if not wrong else "",
        "wrong": wrong,
        **counts,
    }


def _read(entry: Entry, place: Path, show: Display) -> dict[str, int]:
    """Read every example; how many there are in each part, and of how many classes."""
    import torch

    from merlin_cl.streams.datasets.load import read_from

    source = read_from(entry.name, place)
    counts = {}
    labels = set()
    for name in ("train", "test"):
        part = source.read(name)
        for at in torch.arange(len(part)).split(BLOCK):
            part.images(at, (3, 32, 32) if entry.name != "audiomnist" else (1, 32, 32))
            show.update(f"{entry.title}: reading the {name} part", int(at[-1]) + 1, len(part))
        counts[name] = len(part)
        labels |= set(part.labels.tolist())
    return {**counts, "classes": len(labels)}


def _table(findings: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("data set", "where", "examples", "finding"):
        table.add_column(heading, overflow="fold")
    for one in findings:
        counts = f"{one['train']:,} + {one['test']:,}\nof {one['classes']} classes" if "train" in one else "unreadable"
        table.add_row(one["name"], escape(one["folder"]), counts, escape("\n".join(one["wrong"]) or one["checksums"]))
    return table
