"""Runs in processes of their own that end, by SIGKILL, at a chosen moment: no test has to be quick enough to meet it.

The processes are forked from a server that has imported torch once, which takes longer than all the rest.
"""

import multiprocessing
import os
import signal
import sys
from pathlib import Path

from merlin_cl.cli import exit_code
from merlin_cl.runs.folder import RunFolder
from patience import PATIENCE

from . import fakes


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def after_event(name, count):
    """Die just after the event has been logged so often."""
    log, seen = RunFolder.log, []

    def logged(folder, event, **values):
        log(folder, event, **values)
        seen.append(event)
        if seen.count(name) == count:
            die()

    RunFolder.log = logged


def while_writing(name, _):
    """Die when half of the file is written."""
    sync = os.fsync

    def half(descriptor):
        if name in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
            die()
        sync(descriptor)

    os.fsync = half


def after_writing(name, _):
    """Die when the file has its name."""
    replace = os.replace

    def replaced(source, target, **options):
        replace(source, target, **options)
        if Path(target).name == name:
            die()

    os.replace = replaced


def _work(arguments, moment, place):
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    fakes.register()
    if moment is not None:
        moment(*place)
    sys.exit(exit_code(arguments))


def started(arguments, moment=None, *place):
    """`merlin ...` with the methods of fakes.py, in a process that dies at the moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["merlin_cl.runs.engines.work"])
    process = context.Process(target=_work, args=([*map(str, arguments)], moment, place))
    process.start()
    return process


def code_of(process):
    """Its exit code; minus the signal, where one ended it."""
    process.join(PATIENCE)
    assert process.exitcode is not None, "the process hangs"
    return process.exitcode
