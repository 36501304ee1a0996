"""The command that computes a run again."""

import shlex
from typing import Any

from merlin_cl.report.page.sources import Run
from merlin_cl.report.summary import Row

DEFAULTS = {"batch_size": 10, "inference": "all", "device": "cpu", "threads": 1}
"""What `merlin run` does unless told otherwise."""


def command_for(row: Row, runs: list[Run]) -> str:
    """The shell command that computes some runs again, which differ in their seeds alone."""
    seeds = [run.seed for run in runs]
    if len(seeds) == 1:
        return shlex.join(_words(row, runs[0], str(seeds[0])))
    command = shlex.join(_words(row, runs[0], "$seed")).replace("'$seed'", "$seed")
    return f"for seed in {' '.join(map(str, seeds))}; do {command}; done"


def _words(row: Row, run: Run, seed: str) -> list[str]:
    """`merlin run` with all that is not a default."""
    result = run.result
    own = "kind" in result["settings"]["stream"]  # a user's own data are named by their path
    words = ["merlin", "run", (run.data or "PATH") if own else row.stream, "--method", row.method]
    if row.preset != "default":
        words += ["--preset", row.preset]
    words += ["--seed", seed]
    for name, usual in DEFAULTS.items():
        value = result[name] if name in result else result["settings"][name]
        if value != usual:
            words += option(name, value)
    for name, value in row.changed.items():
        words += option(name, value)
    return words


def command_of(row: Row) -> str:
    """`merlin run` for any seed of a row, N, in a word or two a setting that is not a default."""
    preset = [] if row.preset == "default" else ["--preset", row.preset]
    changed = [word for name, value in row.changed.items() for word in option(name, value)]
    return " ".join(["merlin run", row.stream, "--method", row.method, *preset, "--seed N", *changed])


def option(name: str, value: Any) -> list[str]:
    """A setting as words of a command line.

    >>> option("decoupled_decay", False), option("hidden_units", [100, 100])
    (['--no-decoupled-decay'], ['--hidden-units', '100', '100'])
    """
    name = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
