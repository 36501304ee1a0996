"""Numbers and consoles, the same in every table."""

import re
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from rich.console import Console

PLAIN_WIDTH = 100
"""Columns where standard output is no terminal, as in a file or a pipe."""

NONE = "–"


def console() -> Console:
    """Standard output for tables: as wide as the terminal, or a fixed width."""
    terminal = Console(file=sys.stdout, highlight=False)
    if not terminal.is_terminal:
        terminal.width = PLAIN_WIDTH
    return terminal


def say(text: str, file: TextIO | None = None) -> None:
    """A line to standard error, or to another file: on a terminal wrapped between words, a command to type being one word."""
    file = file or sys.stderr
    print(wrapped(text, shutil.get_terminal_size().columns) if file.isatty() else text, file=file, flush=True)


def say_next(*commands: str) -> None:
    """What to type next, one or another: in one line, or on a terminal that has no room for it a line each."""
    line = f"Next: {'   or   '.join(commands)}"
    if sys.stderr.isatty() and len(line) > shutil.get_terminal_size().columns:
        line = "\n".join(["Next:", *(f"  {command}" for command in commands)])
    print(line, file=sys.stderr, flush=True)


def wrapped(text: str, width: int) -> str:
    """Lines no longer than a width, as far as words allow; what stands between backquotes is one word.

    >>> wrapped("Left out; `merlin run split-mnist` makes it.", 24)
    'Left out;\\n`merlin run split-mnist`\\nmakes it.'
    """
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(indent)
        for word in re.findall(r"(?:`[^`]*`|\S)+", line):
            if len(lines[-1]) + 1 + len(word) <= width or not lines[-1].strip():
                lines[-1] += f" {word}" if lines[-1].strip() else word
            else:
                lines.append(indent + word)
    return "\n".join(lines)


def percent(value: float | None) -> str:
    """A percentage to two decimals.

    >>> percent(90.6999), percent(None)
    ('90.70', '–')
    """
    return NONE if value is None else f"{value:.2f}"


def nats(value: float | None) -> str:
    """A likelihood or a Brier score to three decimals.

    >>> nats(0.4286), nats(None)
    ('0.429', '–')
    """
    return NONE if value is None else f"{value:.3f}"


def ends(interval: tuple[float, float] | None, shown: Callable[[float], str] = percent) -> str:
    """An interval by its ends.

    >>> ends((87.5, 100.0)), ends(None)
    ('87.50 to 100.00', '–')
    """
    return NONE if interval is None else f"{shown(interval[0])} to {shown(interval[1])}"


def signed(value: float | None) -> str:
    """A difference to two decimals, with its sign.

    >>> signed(0.5), signed(-1), signed(None)
    ('+0.50', '-1.00', '–')
    """
    return NONE if value is None else f"{value:+.2f}"


def probability(value: float | None) -> str:
    """A p-value.

    >>> probability(0.0312), probability(0.00001), probability(None)
    ('0.031', '<0.001', '–')
    """
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def size(count: float) -> str:
    """Bytes in the unit that suits them.

    >>> size(31), size(156800), size(2_500_000)
    ('31 B', '156.8 kB', '2.5 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def stored_size(count: float | None) -> str:
    """What a method keeps between tasks; None where it does not state it.

    >>> stored_size(1200), stored_size(None)
    ('1.2 kB', 'not stated')
    """
    return "not stated" if count is None else size(count)


STREAMS = {
    "split": "Split",
    "permuted": "Permuted",
    "rotated": "Rotated",
    "mnist": "MNIST",
    "fashion": "Fashion",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "miniimagenet": "mini-ImageNet",
    "audio": "Audio",
    "20": "(20 tasks)",
}
"""Words of the names of streams as people write them."""


def stream_title(name: str) -> str:
    """A stream as a heading calls it.

    >>> stream_title("split-cifar100-20"), stream_title("heterogeneous"), stream_title("my-own.csv")
    ('Split CIFAR-100 (20 tasks)', 'Heterogeneous', 'my-own.csv')
    """
    words = name.split("-")
    if all(word in STREAMS for word in words):
        return " ".join(STREAMS[word] for word in words)
    return name.capitalize() if name.isalpha() else name


def parts(values: Mapping[str, object]) -> str:
    """Names and values in one line, numbers to six digits.

    >>> parts({"base": "1 s", "learning_rate": 0.1 + 0.2})
    'base 1 s, learning_rate 0.3'
    """
    shown = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in values.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items()) or "none"


def stream_parts(changed: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """What a stream has otherwise than usual, in words.

    >>> usual = {"images_per_task": 2500, "tasks": 10, "datasets": ["digits", "faces", "signs"]}
    >>> stream_parts({"datasets": ["digits", "signs"], "images_per_task": 1250}, usual)
    'without faces, 1,250 images a task'
    >>> stream_parts({"images_per_task": 0, "tasks": 3, "image_size": 32}, usual)
    'all images, the first 3 tasks, image_size 32'
    >>> stream_parts({"datasets": ["signs", "digits"]}, usual)
    'without faces, in the order signs digits'
    """
    return ", ".join(_stream_part(name, value, usual.get(name)) for name, value in changed.items())


def _stream_part(name: str, value: Any, usual: Any) -> str:
    if isinstance(value, list) and isinstance(usual, list | tuple) and set(value) <= set(usual):
        missing = " and ".join(one for one in usual if one not in value)
        in_order = [one for one in usual if one in value]
        words = [f"without {missing}"] if missing else []
        return ", ".join(words + ([f"in the order {' '.join(value)}"] if value != in_order else []))
    if name == "images_per_task":
        return f"{value:,} images a task" if value else "all images"
    if name == "tasks" and usual is not None and value < usual:
        return f"the first {value} tasks"
    return f"{name} {' '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
