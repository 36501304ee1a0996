"""Write pages, or check that they are what the files make them."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from tools.pages.markdown import ROOT

WRITERS = (
    "logo",
    "picture",
    "scoreboard",
    "streams",
    "results",
    "benchmarks",
    "rivals",
    "method",
    "distribution",
    "descriptors",
    "paper",
    "estimator",
    "choose",
    "fronts",
    "refusing",
    "serving",
    "reliability",
    "recording",
    "readme",
    "report_page",
)
"""Modules of this package, each with a `pages()`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check what was asked for; 1 if a page does not follow from the files."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(WRITERS)}; all unless given")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page would change")
    options = parser.parse_args(arguments)
    if unknown := set(options.pages) - set(WRITERS):
        parser.error(f"{', '.join(sorted(unknown))}: there is no such page; choose from {', '.join(WRITERS)}")
    stale = []
    for name in options.pages or WRITERS:
        for path, text in importlib.import_module(f"tools.pages.{name}").pages().items():
            target = ROOT / path
            if target.exists() and target.read_text("utf-8") == text:
                continue
            stale.append(path)
            if not options.check:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
                print(path)
    if options.check and stale:
        print(f"{', '.join(stale)}: not what the files make them; run python -m tools.pages.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
