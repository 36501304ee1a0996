"""Runs killed by SIGKILL at any moment, up to three times, then taken up again: the result is that of a run left alone."""

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merlin_cl.runs.folder import RunFolder
from reliability_trials.processes import begun, ended, merlin

STREAM = ["run", "split-mnist", "--tasks", "3", "--images-per-task", "60"]
METHODS = (
    ["merlin", "--base-models", "2", "--models", "2"],
    ["er", "--exemplars", "20"],
    ["icarl", "--exemplars", "20"],
    ["slda"],
    ["ewc"],
    ["gem", "--exemplars", "20"],
)


def outcomes(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One for each run."""
    alone: dict[int, tuple[dict[str, Any], float]] = {}
    for number in range(start, stop):
        which = number % len(METHODS)
        if which not in alone:
            alone[which] = _undisturbed(_command(which, scratch / "alone" / str(which)))
        yield _outcome(number, scratch / "killed" / str(number), *alone[which])


def _command(which: int, out: Path) -> list[str]:
    shutil.rmtree(out, ignore_errors=True)
    return [*STREAM, "--method", *METHODS[which], "--out", str(out)]


def _undisturbed(command: list[str]) -> tuple[dict[str, Any], float]:
    """The result of a run left alone, and the seconds that it took."""
    process, receiver = begun(merlin, *command)
    receiver.recv()
    since = time.monotonic()
    failure = _said(process, receiver)
    if failure:
        raise RuntimeError(f"A run that nobody disturbed failed: {failure}")
    return _result(Path(command[-1])), time.monotonic() - since


def _outcome(number: int, out: Path, wanted: dict[str, Any], seconds: float) -> str | None:
    draws = random.Random(f"kill and resume {number}")
    command, kills = _command(number % len(METHODS), out), draws.choice([1, 2, 3])
    while kills:
        process, receiver = begun(merlin, *_going_on(command, out, draws))
        receiver.recv()
        time.sleep(draws.uniform(0, seconds))
        process.kill()
        process.join()
        if process.exitcode == 0:  # it was quicker: begin again, and be sooner
            shutil.rmtree(out)
            seconds /= 2
        else:
            kills -= 1
    process, receiver = begun(merlin, *_going_on(command, out, draws))
    receiver.recv()
    if failure := _said(process, receiver):
        return failure
    if _result(out) != wanted:
        return "the result is another than that of a run left alone"
    left = sorted(path.name for path in out.rglob("*.part"))
    shutil.rmtree(out)
    return f"left behind: {left}" if left else None


def _going_on(command: list[str], out: Path, draws: random.Random) -> list[str]:
    """Either of the two ways to take up a run, once there is one."""
    folders = list(out.glob("*/config.json"))
    return ["resume", str(folders[0].parent)] if folders and draws.random() < 0.5 else command


def _said(process: Any, receiver: Any) -> str | None:
    try:
        failure: str | None = receiver.recv()
    except EOFError:
        process.join()
        return ended(process)
    process.join()
    return failure


def _result(out: Path) -> dict[str, Any]:
    (folder,) = out.iterdir()
    return {key: value for key, value in RunFolder(folder).result().items() if key != "cost"}
