"""The command `merlin`: one file a command, errors in one sentence, results on standard output, all else on standard error."""

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence

from merlin_cl import __version__
from merlin_cl.commands import merlin
from merlin_cl.errors import MerlinError, UsageError, unknown

COMMANDS = {
    "demo": ("merlin_cl.cli.demo", "learn Split MNIST, beside the paper and the exemplar-only control"),
    "run": ("merlin_cl.cli.run", "learn a stream with a method, into a run folder"),
    "resume": ("merlin_cl.cli.resume", "go on with a run that was interrupted"),
    "grid": ("merlin_cl.cli.grid", "many runs from one file, on this machine or a Ray cluster"),
    "reproduce": ("merlin_cl.cli.reproduce", "the paper's tables and figures, ours beside its own numbers"),
    "list": ("merlin_cl.cli.listing", "the runs in a folder"),
    "show": ("merlin_cl.cli.show", "the results of one run, or of several over their seeds"),
    "predict": ("merlin_cl.cli.predict", "ask a saved learner, or the one that a run left behind"),
    "learn": ("merlin_cl.cli.learn", "let a saved learner go on learning"),
    "model": ("merlin_cl.cli.model", "what is in the file of a saved learner"),
    "serve": ("merlin_cl.cli.serve", "a saved learner that answers and learns at once, over HTTP"),
    "diagnose": ("merlin_cl.cli.diagnose", "what a run forgot, task by task, and why"),
    "report": ("merlin_cl.cli.report", "the results of runs as one HTML page that opens offline"),
    "watch": ("merlin_cl.cli.watch", "the same page, served here and live while runs go on"),
    "tune": ("merlin_cl.cli.tune", "choose a method's settings on held-out training images"),
    "data": ("merlin_cl.cli.data", "data sets: which are here, how to get them, whether they are whole"),
    "bench": ("merlin_cl.cli.bench", "how fast this machine is at it, in ratios"),
}
"""Where each command lives, imported when it is called: `main(arguments)` in that module."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± shows a question mark, not an error
    sys.exit(exit_code(list(sys.argv[1:] if argv is None else argv)))


def exit_code(argv: list[str]) -> int:
    """Run the command line: 0 done, 1 failed, 2 wrong usage, 130 stopped by the user."""
    debug = "--debug" in argv
    try:
        _dispatch([argument for argument in argv if argument != "--debug"])
        sys.stdout.flush()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sentence, code = _explained(error)
        _say(f"merlin: {sentence}")
        return code
    return 0


def _dispatch(argv: list[str]) -> None:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_overview())
    elif argv[0] in ("--version", "-V"):
        print(f"merlin-cl {__version__}")
    elif argv[0] in COMMANDS:
        command: Callable[[list[str]], None] = importlib.import_module(COMMANDS[argv[0]][0]).main
        command(argv[1:])
    elif argv[0].startswith("-"):
        raise UsageError(
            f"{argv[0]} comes after a command, as in `{merlin('run', argv[0])}`; `merlin --help` lists them."
        )
    else:
        raise unknown("command", argv[0], COMMANDS)


def _overview() -> str:
    lines = [f"  {name:<10}{about}" for name, (_, about) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: merlin COMMAND [options]",
            "",
            "Online continual learning in bounded memory:",
            "MERLIN and its rivals under the same rules.",
            "",
            *lines,
            "",
            "`merlin COMMAND --help` says more, `merlin --version` tells the version,",
            "and --debug after a command shows tracebacks. Start with: merlin demo",
        ]
    )


def _say(sentence: str) -> None:
    """To standard error, wrapped between words on a terminal."""
    from merlin_cl.report.text import say

    say(sentence)


def _explained(error: BaseException) -> tuple[str, int]:
    """An error as one sentence, and the exit code it deserves."""
    if isinstance(error, MerlinError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Stopped.", 130
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f": {error.filename}"
        return f"{error.strerror}{where}; add --debug to see where it happened.", 1
    return f"Unexpected {type(error).__name__}: {error}; add --debug to see where it happened.", 1
