"""Tries in processes of their own: one that crashes or hangs is a failure, not the end."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

PATIENCE = 300.0
"""Seconds without a word before a process is taken to hang."""
Try = Callable[[int, Path], str | None]
"""Makes one try in a folder, and says what went wrong."""


def begun(work: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """A process that does the work, and where what it sends arrives. It is forked from one that has imported torch."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["merlin_cl.runs.engines.work", "merlin_cl.estimator"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, *arguments))
    process.start()
    sender.close()
    return process, receiver


def each(attempt: Try, start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """The outcomes of tries that one process makes one after another; after a crash or a hang another one goes on."""
    while start < stop:
        process, receiver = begun(_each, attempt, start, stop, scratch)
        for outcome in _received(process, receiver):
            yield outcome
            start += 1
        process.join()
        if start < stop:
            yield ended(process)
            start += 1


def _received(process: BaseProcess, receiver: Connection) -> Iterator[Any]:
    try:
        while receiver.poll(PATIENCE):
            yield receiver.recv()
    except EOFError:
        return
    process.kill()


def _each(sender: Connection, attempt: Try, start: int, stop: int, scratch: Path) -> None:
    for number in range(start, stop):
        sender.send(attempt(number, scratch))


def ended(process: BaseProcess) -> str:
    """How a process ended that ought to have gone on."""
    code = process.exitcode or 0
    return f"its process ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with {code}"


def merlin(sender: Connection, *arguments: str) -> None:
    """`merlin ...` in a process: says that it begins, then what it said if it failed."""
    from merlin_cl.cli import exit_code

    said = StringIO()
    sender.send("begun")
    with redirect_stdout(StringIO()), redirect_stderr(said):
        code = exit_code(list(arguments))
    sender.send(said.getvalue()[-500:] if code else None)
    sys.stdout.flush()
    os._exit(code)


def resident(reset: bool = False) -> int:
    """The most memory held since the last reset, in bytes; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS:" if reset else "VmHWM:"))
    return int(line.split()[1]) * 1024
