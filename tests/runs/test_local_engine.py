"""Grids in real processes: killed workers, a killed grid, and results that do not depend on any of it."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code
from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.engines.local import LIBRARIES, LocalEngine, cores
from merlin_cl.runs.folder import RunFolder, run_folders
from merlin_cl.runs.jobs import Checker
from merlin_cl.runs.run import run
from merlin_cl.streams.registry import stream_settings

STREAM = {"tasks": 3, "images_per_task": 300}


def configuration(seed):
    stream = stream_settings("split-mnist")(**STREAM)
    return RunConfig(stream, method_settings("single").preset("default", stream.info()), seed)


def comparable(folder):
    return {key: value for key, value in RunFolder(folder).result().items() if key != "cost"}


def wait_for(condition, seconds=240):  # long enough for a very busy machine
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the runs give when nobody disturbs them: scores by seed."""
    from merlin_cl.runs.engines.work import Silence

    root = tmp_path_factory.mktemp("alone")
    return {seed: comparable(run(configuration(seed), root, Silence()).path) for seed in range(2)}


def test_a_worker_that_is_killed_says_so_and_its_run_goes_on_elsewhere(tmp_path, silent, alone):
    (job,) = Checker(silent).jobs([configuration(0)])
    engine = LocalEngine(tmp_path, threads=1, workers=1)
    engine.start(job)
    wait_for(lambda: engine.tasks_done(job) >= 1)
    (worker,) = multiprocessing.active_children()
    os.kill(worker.pid, signal.SIGKILL)
    (outcome,) = engine.ended(240)
    assert "SIGKILL" in outcome.reason
    assert not engine.finished(job)
    engine.start(job)
    (outcome,) = engine.ended(240)
    assert outcome.reason is None
    assert engine.finished(job)
    folder = job.folder(tmp_path)
    assert [event["event"] for event in folder.events()].count("resumed") == 1
    assert comparable(folder.path) == alone[0]


def test_closing_ends_the_workers_and_keeps_their_checkpoints(tmp_path, silent):
    (job,) = Checker(silent).jobs([configuration(0)])
    engine = LocalEngine(tmp_path, threads=1, workers=1)
    engine.start(job)
    wait_for(lambda: engine.tasks_done(job) >= 1)
    engine.close()
    assert multiprocessing.active_children() == []
    assert not job.folder(tmp_path).busy
    assert engine.tasks_done(job) >= 1


def test_workers_and_their_threads_are_no_more_than_the_cores(tmp_path):
    for threads in (1, 2, cores(), 10 * cores()):
        engine = LocalEngine(tmp_path, threads)
        assert engine.slots >= 1
        assert engine.slots * threads <= max(threads, cores())
    before = {name: os.environ.get(name) for name in LIBRARIES}
    assert LocalEngine(tmp_path, 1, workers=7).slots == 7
    assert {name: os.environ.get(name) for name in LIBRARIES} == before


def test_a_grid_killed_outright_ends_its_workers_and_goes_on_when_started_again(tmp_path, alone, capsys):
    (tmp_path / "grid.toml").write_text(
        f'streams = [{{name = "split-mnist", tasks = {STREAM["tasks"]}, images_per_task = {STREAM["images_per_task"]}}}]\n'
        'methods = ["single"]\nseeds = 2\n'
    )
    out = tmp_path / "out"
    command = ["grid", str(tmp_path / "grid.toml"), "--out", str(out), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "merlin_cl.cli", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as grid:
        wait_for(lambda: any(out.glob("*/checkpoint/task-001.safetensors")) or grid.poll() is not None)
        assert grid.poll() is None, grid.stderr.read()
        grid.kill()
    assert json.loads((out / "grid.json").read_text())["counts"]["running"] >= 1
    wait_for(lambda: not any(folder.busy for folder in run_folders(out)))
    assert exit_code(command) == 0
    runs = json.loads(capsys.readouterr().out)
    assert [run["status"] for run in runs] == ["done", "done"]
    assert {run["seed"]: comparable(Path(out / run["run"])) for run in runs} == alone
