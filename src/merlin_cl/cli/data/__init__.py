"""`merlin data`: the data sets that streams read. One file a subcommand; none but `verify` needs torch."""

import importlib

from merlin_cl.errors import UsageError, unknown

SUBCOMMANDS = {
    "list": ("listing", "which data sets and streams are ready, and how to get the others"),
    "get": ("get", "fetch a data set, checked, into the data folder"),
    "verify": ("verify", "check the data sets that are here"),
    "where": ("where", "the data folder"),
}


def main(argv: list[str]) -> None:
    """Run the command."""
    if argv and argv[0] in ("-h", "--help"):
        print(_overview())
    elif argv and argv[0] in SUBCOMMANDS:
        importlib.import_module(f"{__name__}.{SUBCOMMANDS[argv[0]][0]}").main(argv[1:])
    elif argv and not argv[0].startswith("-"):
        raise unknown("subcommand of merlin data", argv[0], SUBCOMMANDS)
    else:
        raise UsageError(f"merlin data wants one of {', '.join(SUBCOMMANDS)}; `merlin data --help` says what they do.")


def _overview() -> str:
    lines = [f"  {name:<10}{about}" for name, (_, about) in SUBCOMMANDS.items()]
    return "\n".join(["usage: merlin data SUBCOMMAND [options]", "", "The data sets that streams read.", "", *lines])
