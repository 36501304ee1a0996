"""Lines to type next, quoted so that a shell takes them as they are meant: spaces, umlauts, paths that begin with a dash."""

import shlex
from pathlib import PurePath
from typing import Any


def merlin(*words: object) -> str:
    """A command, as in `merlin show 'my runs'`.

    >>> merlin("show", PurePath("my runs")), merlin("resume", PurePath("-x"))
    ("merlin show 'my runs'", 'merlin resume ./-x')
    """
    return shlex.join(["merlin", *(_word(word) for word in words)])


def option(name: str, value: Any) -> list[str]:
    """A setting as words of a command line.

    >>> option("decoupled_decay", False), option("hidden_units", [100, 100]), option("label", "-1")
    (['--no-decoupled-decay'], ['--hidden-units', '100', '100'], ['--label=-1'])
    """
    name = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if isinstance(value, list | tuple):
        return [f"--{name}", *map(str, value)]
    return [f"--{name}={value}"] if str(value).startswith("-") else [f"--{name}", str(value)]


def _word(word: object) -> str:
    text = str(word)
    return f"./{text}" if isinstance(word, PurePath) and text.startswith("-") else text
