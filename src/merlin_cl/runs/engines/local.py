"""Runs in processes of this machine, a new one for each run, as many at once as there are cores for their threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from merlin_cl.runs.engines.engine import JobOutcome
from merlin_cl.runs.jobs import Job, tasks_done

LIBRARIES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What tells the libraries underneath torch and NumPy how many threads they may have."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """Processes on this machine. They end when this one does, however it ends."""

    name = "local"

    def __init__(self, root: Path, threads: int, workers: int | None = None) -> None:
        """`threads` is what one run may use; without a number of workers there is one for every so many cores."""
        self.root = root
        self.threads = threads
        self.slots = workers or max(1, cores() // threads)
        self._context = _context()
        self._running: dict[str, tuple[Job, BaseProcess, Connection]] = {}

    def start(self, job: Job) -> None:
        """A process of its own for the run."""
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=work, args=(job.config.record(), str(self.root), sender), daemon=True)
        with _environment(dict.fromkeys(LIBRARIES, str(self.threads))):
            process.start()
        sender.close()
        self._running[job.identity] = (job, process, receiver)

    def ended(self, seconds: float) -> list[JobOutcome]:
        """The runs whose processes have ended."""
        gone = wait([process.sentinel for _, process, _ in self._running.values()], timeout=seconds)
        outcomes = []
        for key, (job, process, receiver) in list(self._running.items()):
            if process.sentinel in gone:
                process.join()
                outcomes.append(JobOutcome(job, _said(receiver, process.exitcode)))
                receiver.close()
                process.close()
                del self._running[key]
        return outcomes

    def finished(self, job: Job) -> bool:
        """Whether the run's folder has its result."""
        folder = job.folder(self.root)
        return folder is not None and folder.finished

    def tasks_done(self, job: Job) -> int:
        """As its folder says."""
        return tasks_done(job.folder(self.root))

    def close(self) -> None:
        """End all processes; what they did is safe up to the last checkpoint."""
        for _, process, receiver in self._running.values():
            process.kill()
            process.join()
            process.close()
            receiver.close()
        self._running.clear()


def _context() -> SpawnContext | ForkServerContext:
    """Workers are forked from a server that has imported torch once and computed nothing; on Windows they import it anew."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["merlin_cl.runs.engines.work"])
    return context


def work(record: dict[str, Any], root: str, sender: Connection) -> None:
    """What a process does: the run, then why it failed if it did."""
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the grid ends its own
    from merlin_cl.runs.engines.work import compute

    sender.send(compute(record, Path(root)))
    sender.close()


def _end_with_parent() -> None:
    """End this process as soon as the grid's has ended, even if that was killed: nobody else would."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _said(receiver: Connection, code: int | None) -> str | None:
    """What a process that has ended said last; one that was killed said nothing."""
    try:
        if receiver.poll():
            said: str | None = receiver.recv()
            return said
    except EOFError:
        pass
    how = f"killed by {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
    return f"Its process ended before the run did ({how}); if that happens again, is there memory enough?"


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Environment variables for the processes started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
