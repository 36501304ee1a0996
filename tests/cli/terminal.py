"""A terminal of so many columns for a command to write to, and what a person would have seen on it."""

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7]|38)[0-9;]*m")


SEPARATOR = "\x1e"
"""Between what one command wrote and what the next did."""
IN_TURN = f"""
import fcntl, json, struct, sys, termios
from merlin_cl.cli import exit_code
widths, commands = json.loads(sys.argv[1])
for width in widths:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    for words in commands:
        exit_code(words)
        print({SEPARATOR!r}, end="", flush=True)
"""


def typed(*command, width, **environment):
    """All that `merlin` with these words wrote to a terminal, escapes included, and how it ended."""
    return _written("-m", "merlin_cl.cli", *map(str, command), width=width, **environment)


def typed_in_turn(commands, widths):
    """What each of several named commands wrote to the same terminal, by its width and the command's name."""
    lines = [[str(word) for word in command] for command in commands.values()]
    text, code = _written("-c", IN_TURN, json.dumps([widths, lines]), width=widths[0])
    assert code == 0, text
    written = iter(text.split(SEPARATOR)[:-1])
    return {width: {name: next(written) for name in commands} for width in widths}


def _written(*arguments, width, **environment):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    usual = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**usual, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1", **environment},
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not some:
            break
        written += some
    os.close(ours)
    return written.decode("utf-8"), process.wait()


class Screen(io.StringIO):
    """A file that says it is a terminal, for a command in this process."""

    def isatty(self):
        return True


def lines_of(text):
    """What stays on the screen: the last state of every line, without escapes."""
    return [ESCAPES.sub("", line).split("\r")[-1].rstrip() for line in text.replace("\r\n", "\n").split("\n")]


def words_of(lines):
    """Words and numbers."""
    return {word.strip(".") for word in re.findall(r"[\w.]+", " ".join(lines))}
