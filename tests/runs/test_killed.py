"""A real process, ended by SIGKILL at several moments, then resumed: the result is that of one that was left alone."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code
from patience import PATIENCE, wait_for

from .dying import after_event, after_writing, code_of, started, while_writing

FAKES = Path(__file__).with_name("fakes.py")
STREAM = ["run", "split-mnist", "--tasks", "3", "--images-per-task", "40"]
METHODS = {
    "means": [*STREAM, "--method", "means"],
    "merlin": [
        *[*STREAM, "--method", "merlin"],
        *["--base-models", "2", "--models", "2", "--fine-tune-epochs", "2"],
    ],
}
ENDLESS = [*METHODS["means"], "--sleep", "3600"]
"""A run that waits in its first batch."""


@pytest.fixture
def finish(capsys):
    """The command run to its end in this process."""

    def call(*arguments):
        assert exit_code([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def scores(result):
    return {key: result[key] for key in ("scores", "diagnosis", "parameters", "settings", "seed", "source")}


def in_a_task(root):
    """Whether a run has begun its first task."""
    return lambda: any('"event": "task"' in file.read_text() for file in root.glob("*/events.jsonl"))


MOMENTS = {
    "means": [
        (after_event, "task", 1),
        (while_writing, "task-001.safetensors", None),
        (after_event, "checkpoint", 2),
        (after_writing, "task-003.safetensors", None),
    ],
    "merlin": [(after_event, "checkpoint", 1)],
}
"""In the order in which they come: in a task, while a checkpoint is written, just after one, before the result."""


@pytest.mark.parametrize("method", METHODS)
def test_killed_at_every_moment_in_turn_equals_uninterrupted(method, tmp_path, finish):
    command = METHODS[method]
    killed = tmp_path / "killed"
    for moment, *place in MOMENTS[method]:
        assert code_of(started([*command, "--out", killed], moment, *place)) == -signal.SIGKILL
    (folder,) = killed.iterdir()
    resumed = finish("resume", folder)
    assert scores(resumed) == scores(finish(*command, "--out", tmp_path / "whole"))


def test_control_c_says_how_to_go_on(tmp_path):
    command = [sys.executable, FAKES, *ENDLESS, "--out", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        wait_for(in_a_task(tmp_path), lambda: process.stderr.read() if process.poll() is not None else None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    (folder,) = tmp_path.iterdir()
    assert process.returncode == 130
    assert err.splitlines()[-1] == f"merlin: Stopped; `merlin resume {folder}` goes on after the last task done."
    assert "Traceback" not in err


def test_a_second_process_on_the_same_run_is_refused(tmp_path, capsys):
    command = [*ENDLESS, "--out", tmp_path]
    first = started(command)
    try:
        wait_for(in_a_task(tmp_path), lambda: first.exitcode)
        assert exit_code([*map(str, command)]) == 1
    finally:
        first.kill()
        first.join()
    assert "Another process is working on" in capsys.readouterr().err
