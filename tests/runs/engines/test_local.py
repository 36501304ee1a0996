"""Grids in real processes: killed workers, a killed grid, and results that do not depend on any of it."""

import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
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
from patience import PATIENCE, wait_for

HERE = Path(__file__).parents[1]  # of `held_network.py`
STREAM = {"tasks": 3, "images_per_task": 60}
NETWORK = "held_network:factory"


def configuration(seed):
    stream = stream_settings("split-mnist")(**STREAM)
    single = method_settings("single").preset("default", stream.outline())
    return RunConfig(stream, dataclasses.replace(single, network=NETWORK, updates_per_batch=1), seed)


def comparable(folder):
    return {key: value for key, value in RunFolder(folder).result().items() if key != "cost"}


@pytest.fixture(scope="module", autouse=True)
def networks():
    """Where runs, in this process and in others, find the network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        patch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
        yield


@pytest.fixture
def held(tmp_path, monkeypatch):
    """A file: as long as it is there, runs of other processes wait in their second task."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "held").write_text(str(os.getpid()))
    return tmp_path / "held"


@pytest.fixture(scope="module")
def alone(tmp_path_factory, networks):
    """What the runs give when nobody disturbs them: scores by seed."""
    from merlin_cl.runs.engines.work import Silence

    root = tmp_path_factory.mktemp("alone")
    return {seed: comparable(run(configuration(seed), root, Silence()).path) for seed in range(2)}


def test_a_worker_that_is_killed_says_so_and_its_run_goes_on_elsewhere(tmp_path, silent, alone, held):
    (job,) = Checker(silent).jobs([configuration(0)])
    engine = LocalEngine(tmp_path, threads=1, workers=1)
    engine.start(job)
    wait_for(lambda: engine.tasks_done(job) >= 1, lambda: next((said.reason for said in engine.ended(0)), None))
    (worker,) = multiprocessing.active_children()
    os.kill(worker.pid, signal.SIGKILL)
    (outcome,) = engine.ended(PATIENCE)
    assert "SIGKILL" in outcome.reason
    assert not engine.finished(job)
    held.unlink()
    engine.start(job)
    (outcome,) = engine.ended(PATIENCE)
    assert outcome.reason is None
    assert engine.finished(job)
    folder = job.folder(tmp_path)
    assert [event["event"] for event in folder.events()].count("resumed") == 1
    assert comparable(folder.path) == alone[0]


def test_closing_ends_the_workers_and_keeps_their_checkpoints(tmp_path, silent, held):
    (job,) = Checker(silent).jobs([configuration(0)])
    engine = LocalEngine(tmp_path, threads=1, workers=1)
    engine.start(job)
    wait_for(lambda: engine.tasks_done(job) >= 1, lambda: next((said.reason for said in engine.ended(0)), None))
    engine.close()
    assert multiprocessing.active_children() == []
    assert not job.folder(tmp_path).busy
    assert engine.tasks_done(job) == 1


def test_workers_and_their_threads_are_no_more_than_the_cores(tmp_path):
    for threads in (1, 2, cores(), 10 * cores()):
        engine = LocalEngine(tmp_path, threads)
        assert engine.slots >= 1
        assert engine.slots * threads <= max(threads, cores())
    before = {name: os.environ.get(name) for name in LIBRARIES}
    assert LocalEngine(tmp_path, 1, workers=7).slots == 7
    assert {name: os.environ.get(name) for name in LIBRARIES} == before


def test_a_grid_killed_outright_ends_its_workers_and_goes_on_when_started_again(tmp_path, alone, capsys, held):
    (tmp_path / "grid.toml").write_text(
        f'streams = [{{name = "split-mnist", tasks = {STREAM["tasks"]}, images_per_task = {STREAM["images_per_task"]}}}]\n'
        f'methods = [{{name = "single", network = "{NETWORK}", updates_per_batch = 1}}]\nseeds = 2\n'
    )
    out = tmp_path / "out"
    command = ["grid", str(tmp_path / "grid.toml"), "--out", str(out), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "merlin_cl.cli", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as grid:
        wait_for(
            lambda: any(out.glob("*/checkpoint/task-001.safetensors")),
            lambda: grid.stderr.read() if grid.poll() is not None else None,
        )
        grid.kill()
    assert json.loads((out / "grid.json").read_text())["counts"]["running"] >= 1
    wait_for(lambda: not any(folder.busy for folder in run_folders(out)))
    held.unlink()
    assert exit_code(command) == 0
    runs = json.loads(capsys.readouterr().out)
    assert [run["status"] for run in runs] == ["done", "done"]
    assert {run["seed"]: comparable(Path(out / run["run"])) for run in runs} == alone
