"""Dataclasses as command lines: parsing by tyro, errors in one sentence of our own."""

import contextlib
import difflib
import io
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, make_dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

import tyro

from merlin_cl.errors import UsageError

Parsed = TypeVar("Parsed")
Flag = tyro.conf.FlagCreatePairsOff[bool]
"""A switch that is off unless given. Settings that are true or false come in pairs: --this and --no-this."""

PLAINER = (
    (r"^Missing from merlin \w+: (\w+) .*", r"\1 is missing"),
    (r"^Error parsing ([\w-]+-settings: )?", ""),
    (r"invalid literal for int\(\) with base 10: (.*)", r"\1 is not a whole number"),
    (r"could not convert string to float: (.*)", r"\1 is not a number"),
    (r"^invalid choice (.*) for argument '(.*)'\. Expected one of \((.*)\)", r"\2 cannot be \1; choose from \3"),
)
"""What Python and tyro say, and what a user would rather read."""


def parse(
    into: Callable[..., Parsed], argv: Sequence[str], command: str, about: str, known: Sequence[str] = ()
) -> Parsed:
    """The command line as a value; `known` are names of settings to suggest where an option is misspelt."""
    said, shown = io.StringIO(), _Help()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
            value, strangers = tyro.cli(
                into,
                args=list(argv),
                prog=f"merlin {command}",
                description=about,
                return_unknown_args=True,
                config=(tyro.conf.OmitArgPrefixes,),
            )
    except SystemExit as stop:
        if not stop.code:  # the help was asked for
            print(shown.wrapped(), end="")
            raise
        raise UsageError(f"{_sentence(said.getvalue())}; `merlin {command} --help` lists the options.") from None
    if strangers:
        raise UsageError(f"{_stranger(strangers[0], known)}; `merlin {command} --help` lists the options.")
    return value


class _Help(io.TextIOWrapper):
    """What is written to standard output: in its encoding, and coloured where it is a terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding=sys.stdout.encoding, errors="replace", newline="")
        self._terminal = sys.stdout.isatty()

    def isatty(self) -> bool:
        """Whether standard output is a terminal."""
        return self._terminal

    def wrapped(self) -> str:
        """The text, with lines that a terminal has no room for, which have no colours, broken between words."""
        self.seek(0)
        width, lines = shutil.get_terminal_size().columns, []
        for line in self.read().split("\n"):
            long = len(re.sub(r"\x1b\[[0-9;]*m", "", line)) > width
            lines += textwrap.wrap(line, width, break_on_hyphens=False) if long else [line]
        return "\n".join(lines)


def renamed(settings: Any, names: Mapping[str, str]) -> Any:
    """Settings some of whose options have another name on the command line; what is parsed has the fields of the same names."""
    if not names:
        return settings
    kind = type(settings)
    hints = get_type_hints(kind, include_extras=True)
    changed = [
        (name, Annotated[hints[name], tyro.conf.arg(name=option)], getattr(settings, name))
        for name, option in names.items()
    ]
    offered = make_dataclass(kind.__name__, changed, bases=(kind,), frozen=True)
    offered.__doc__ = kind.__doc__
    return offered(**{field.name: getattr(settings, field.name) for field in fields(settings)})


def option_names(*settings: Any) -> list[str]:
    """The options that dataclasses turn into."""
    return [f"--{name.replace('_', '-')}" for kind in settings for name in kind.__dataclass_fields__]


def _stranger(argument: str, known: Sequence[str]) -> str:
    if not argument.startswith("-"):
        return f"{argument!r} is one argument too many"
    nearest = difflib.get_close_matches(argument.partition("=")[0].replace("_", "-"), known, n=1)
    return f"Unknown option {argument!r}" + (f" (did you mean {nearest[0]!r}?)" if nearest else "")


def _sentence(boxed: str) -> str:
    """What tyro says, without its box (drawn in Unicode or ASCII): what follows the title, up to the next rule."""
    lines: list[str] = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", boxed).splitlines()[1:]:
        text = line.strip("│╰╯ ")
        if text.strip("─-"):
            lines.append(text)
        elif lines:
            break
    sentence = " ".join(lines).rstrip(".")
    for pattern, words in PLAINER:
        sentence = re.sub(pattern, words, sentence)
    return sentence
