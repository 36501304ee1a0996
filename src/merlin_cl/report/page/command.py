"""The command that computes a run again."""

import shlex

from merlin_cl.commands import merlin, option
from merlin_cl.report.page.sources import Run
from merlin_cl.report.summary import Result, Row
from merlin_cl.streams.user_data.paths import OWN

DEFAULTS = {"batch_size": 10, "inference": "all", "device": "cpu", "threads": 1}
"""What `merlin run` does unless told otherwise."""


def command_for(row: Row, runs: list[Run]) -> str:
    """The shell command that computes some runs again, which differ in their seeds alone."""
    seeds = [run.seed for run in runs]
    if len(seeds) == 1:
        return shlex.join(_words(row, runs[0], str(seeds[0])))
    command = shlex.join(_words(row, runs[0], "$seed")).replace("'$seed'", "$seed")
    return f"for seed in {' '.join(map(str, seeds))}; do {command}; done"


def stream_words(result: Result, data: str | None) -> list[str]:
    """How `merlin run` is told the stream of a result: its name, or the path of a user's own data; and where the data were."""
    settings = result["settings"]["stream"]
    if settings.get("kind", settings["name"]) in OWN:
        return [data or "PATH"]
    return [result["stream"], *(["--data", data] if data else [])]


def _words(row: Row, run: Run, seed: str) -> list[str]:
    """`merlin run` with all that is not a default."""
    result = run.result
    words = ["merlin", "run", *stream_words(result, run.data), "--method", row.method]
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
    return merlin("run", row.stream, "--method", row.method, *preset, "--seed", "N", *changed)
