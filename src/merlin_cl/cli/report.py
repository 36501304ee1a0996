"""`merlin report`: the results of runs as one HTML page that opens offline."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from merlin_cl.cli.options import option_names, parse
from merlin_cl.errors import MerlinError, UsageError


@dataclass(frozen=True)
class ReportOptions:
    """Which runs, and where the page goes."""

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="[RUN ...]")] = (Path("runs"),)
    """Run folders, folders that hold some, or files under results/."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("report.html")
    """The file to write."""
    title: str = ""
    """What the page is called; the names of the streams if it is not given."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Write the results of runs as one HTML page: tables, interactive figures, diagnosis, settings and commands."
    options = parse(ReportOptions, argv, "report", about, option_names(ReportOptions))

    from merlin_cl.report.page.build import content
    from merlin_cl.report.page.render import page
    from merlin_cl.report.page.salvage import salvaged
    from merlin_cl.report.page.sources import Run, find, read
    from merlin_cl.runs.progress import display
    from merlin_cl.statefile import write_whole

    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"{options.out.parent} is not a folder; make it first, or choose another place with --out.")
    with display() as show:
        sources = read(
            find(options.runs or (Path("runs"),)), lambda done, total: show.update("reading runs", done, total)
        )

        def make(runs: list[Run], problems: list[str]) -> tuple[dict[str, Any], str]:
            made = content(runs, problems, title=options.title)
            return made, page(made)

        (made, document), _ = salvaged(make, sources.runs, sources.problems)
    for problem in made["problems"]:
        print(f"Left out: {problem}", file=sys.stderr)
    if not made["streams"]:
        raise UsageError("There is no finished run to report; `merlin list` tells how far each has come.")
    try:
        write_whole(options.out, document.encode())
    except OSError as error:
        raise MerlinError(f"Cannot write {options.out}: {error.strerror}; choose another place with --out.") from None
    print(options.out)
    runs = f"{made['runs']} run{'' if made['runs'] == 1 else 's'}"
    print(f"Written: {runs}, {options.out.stat().st_size / 1e6:.1f} MB. Open it in a browser.", file=sys.stderr)
