"""`merlin run --help` on one screen: an option a line, with the value it has if nothing is said; `--help-all` says everything."""

import ast
import dataclasses
import inspect
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

WIDEST = 100
"""Columns that are used at the most: longer lines are hard to read."""
INDENT = 28
"""Where what is said of an option begins."""
LINES = 2
"""What is said of an option takes so many at the most."""

HELP, HELP_ALL = ("-h", "--help"), "--help-all"


def short_help(usage: str, about: str, parts: Sequence[tuple[str, Any, Sequence[str]]], last: str) -> str:
    """The screen: `parts` are titles, dataclass instances and names of fields to leave out."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    lines = [f"usage: {usage}", "", *textwrap.wrap(about, width)]
    for title, settings, without in parts:
        lines += ["", title]
        for field in dataclasses.fields(settings):
            if field.name not in without:
                text = _beside(type(settings), field.name, width - INDENT)
                lines += _option(field.name, getattr(settings, field.name), text)
    return "\n".join([*lines, "", *textwrap.wrap(last, width)])


def _beside(kind: type, name: str, width: int) -> list[str]:
    """What is said of an option, two lines at the most: its first clause, and where it has them what can be chosen."""
    said, choices = _said(kind, name), ", ".join(_choices(kind, name))
    if choices:
        said = said.partition(": ")[0]
        together = textwrap.wrap(f"{said}: {choices}", width)
        return together if len(together) <= LINES else [*textwrap.wrap(said, width)[:1], choices]
    text = textwrap.wrap(said, width)
    return text if len(text) <= LINES else textwrap.wrap(said.partition(": ")[0], width)[:LINES]


def _option(name: str, value: object, beside: list[str]) -> Iterator[str]:
    """An option with its value, and what is said of it."""
    option = f"  --{name.replace('_', '-')} {_written(value)}".rstrip()
    if len(option) >= INDENT:
        yield option
        option = ""
    for line in beside:
        yield f"{option:<{INDENT}}{line}"
        option = ""


def _choices(kind: type, name: str) -> list[str]:
    """The words that a setting may have, where they are few and known."""
    hint = get_type_hints(kind, include_extras=False).get(name)
    return [str(word) for word in get_args(hint)] if get_origin(hint) is Literal else []


def _written(value: object) -> str:
    """A value as it would be typed; nothing for a switch, and a word in its place for what has none yet."""
    if isinstance(value, bool):
        return "" if not value else "yes"
    if isinstance(value, tuple | list):
        return " ".join(map(str, value)) or "NAME..."
    return "NAME" if value in (None, "") else str(value)


def _said(kind: type, name: str) -> str:
    """The first clause of what the class says of a field."""
    for base in kind.__mro__:
        if (text := _docs(base).get(name)) is not None:
            return _first_clause(text)
    return ""


def _first_clause(text: str) -> str:
    """A sentence up to its first full stop or semicolon, without either.

    >>> _first_clause("Numbers in z, about; never more than the classifier has weights.")
    'Numbers in z, about'
    """
    ends = [at for mark in (". ", "; ", ".\n") if (at := f"{text} ".find(mark)) > 0]
    return text[: min(ends, default=len(text))].rstrip(".")


@cache
def _docs(kind: type) -> dict[str, str]:
    """What stands below each field of a class, as one line each."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return {}
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docs[name] = " ".join(text.split())
    return docs
