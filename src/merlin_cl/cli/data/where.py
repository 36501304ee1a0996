"""`merlin data where`: the folder into which data sets are fetched, and those that are looked through."""

import json
import sys
from dataclasses import dataclass

from merlin_cl.cli.options import Flag, option_names, parse
from merlin_cl.streams.data_dirs import usual_folders


@dataclass(frozen=True)
class WhereOptions:
    """How to say it."""

    json: Flag = False
    """Print it as JSON."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "The folder into which data sets are fetched: that in MERLIN_DATA, or one in the cache of the platform."
    options = parse(WhereOptions, argv, "data where", about, option_names(WhereOptions))
    folders = [str(folder) for folder in usual_folders()]
    if options.json:
        print(json.dumps({"folder": folders[0], "searched": folders}))
        return
    print(folders[0])
    print(f"Looked through in this order: {', '.join(folders)}; set MERLIN_DATA for another.", file=sys.stderr)
