"""A real process, killed by SIGKILL at several moments, then resumed: the result is that of one that was left alone."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code

FAKES = Path(__file__).with_name("fakes.py")
STREAM = ["run", "split-mnist", "--tasks", "3", "--images-per-task", "40"]
METHODS = {
    # Four batches a task, each a twentieth of a second, and checkpoints that take a while: every moment can be met.
    "means": [*STREAM, "--method", "means", "--sleep", "0.05", "--ballast", "30"],
    "merlin": [
        *[*STREAM, "--method", "merlin"],
        *["--base-models", "2", "--models", "2", "--fine-tune-epochs", "2", "--vae-steps", "30"],
    ],
}


def start(*arguments):
    command = [sys.executable, str(FAKES), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def finish(capsys):
    """The command run to its end in this process: importing torch again for every one takes longer than all the rest."""

    def call(*arguments):
        assert exit_code([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def scores(result):
    return {key: result[key] for key in ("scores", "diagnosis", "parameters", "settings", "seed", "source")}


def wait_for(condition, process):
    """Poll as fast as possible until the moment has come."""
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.0005)


def logged(root, event, count):
    """Whether the event has been logged so often."""
    return lambda: sum(file.read_text().count(f'"event": "{event}"') for file in root.glob("*/events.jsonl")) >= count


def present(root, pattern):
    return lambda: any(root.glob(f"*/{pattern}"))


MOMENTS = {
    "means": [
        lambda root: logged(root, "task", 1),
        lambda root: present(root, "checkpoint/.task-001.safetensors.*.part"),
        lambda root: logged(root, "checkpoint", 2),
        lambda root: present(root, "checkpoint/task-003.safetensors"),
    ],
    "merlin": [lambda root: logged(root, "checkpoint", 1)],
}
"""In the order in which they come: in a task, while a checkpoint is written, just after one, before the result."""


@pytest.mark.parametrize("method", METHODS)
def test_killed_at_every_moment_in_turn_equals_uninterrupted(method, tmp_path, finish):
    command = METHODS[method]
    killed, codes = tmp_path / "killed", []
    for moment in MOMENTS[method]:
        with start(*command, "--out", killed) as process:
            wait_for(moment(killed), process)
            process.kill()
        codes.append(process.returncode)
    assert all(code == -signal.SIGKILL for code in codes[:-1])  # the last moment a slow machine may miss
    (folder,) = killed.iterdir()
    resumed = finish("resume", folder)
    assert scores(resumed) == scores(finish(*command, "--out", tmp_path / "whole"))


def test_control_c_says_how_to_go_on(tmp_path):
    with start(
        *METHODS["means"], "--sleep", "9", "--out", tmp_path
    ) as process:  # long enough to be met on a busy machine
        wait_for(logged(tmp_path, "task", 1), process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    (folder,) = tmp_path.iterdir()
    assert process.returncode == 130
    assert err.splitlines()[-1] == f"merlin: Stopped; `merlin resume {folder}` goes on after the last task done."
    assert "Traceback" not in err


def test_a_second_process_on_the_same_run_is_refused(tmp_path):
    command = [*METHODS["means"], "--sleep", "9", "--out", tmp_path]
    with start(*command) as first:
        wait_for(logged(tmp_path, "task", 1), first)
        with start(*command) as second:
            _, err = second.communicate(timeout=20)
        first.kill()
    assert second.returncode == 1
    assert "Another process is working on" in err
