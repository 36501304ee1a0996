"""The command that computes a run again."""

import shlex
from typing import Any

from merlin_cl.report.summary import Result, Row

DEFAULTS = {"batch_size": 10, "inference": "all", "device": "cpu", "threads": 1}
"""What `merlin run` does unless told otherwise."""


def command_for(row: Row, result: Result, seed: int | str) -> str:
    """`merlin run` with all that is not a default."""
    words = ["merlin", "run", row.stream, "--method", row.method]
    if row.preset != "default":
        words += ["--preset", row.preset]
    words += ["--seed", str(seed)]
    for name, usual in DEFAULTS.items():
        value = result[name] if name in result else result["settings"][name]
        if value != usual:
            words += option(name, value)
    for name, value in row.changed.items():
        words += option(name, value)
    return shlex.join(words)


def option(name: str, value: Any) -> list[str]:
    """A setting as words of a command line.

    >>> option("decoupled_decay", False), option("hidden_units", [100, 100])
    (['--no-decoupled-decay'], ['--hidden-units', '100', '100'])
    """
    name = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
