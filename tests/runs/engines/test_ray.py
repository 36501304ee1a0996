"""A real Ray cluster of two nodes on this machine, one of which is killed while it works."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from merlin_cl.cli import exit_code
from merlin_cl.runs.folder import RunFolder
from patience import PATIENCE, wait_for

pytest.importorskip("ray", reason="the package ray is not installed: pip install 'merlin-cl[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

GRID = """
streams = [{name = "split-mnist", tasks = 3, images_per_task = 60}]
methods = [{name = "single", network = "held_network:factory", updates_per_batch = 1}]
seeds = 2
"""
RUN = [
    "run",
    "split-mnist",
    "--tasks",
    "3",
    "--images-per-task",
    "60",
    "--method",
    "single",
    "--network",
    "held_network:factory",
    "--updates-per-batch",
    "1",
]


@pytest.fixture
def grid(tmp_path, monkeypatch):
    """The grid's file; its runs wait in their second task as long as the file `held` is there."""
    folder = str(Path(__file__).parents[1])  # of `held_network.py`
    monkeypatch.setenv("HELD", str(tmp_path / "held"))
    monkeypatch.setenv("PYTHONPATH", folder)  # for the nodes and their workers
    monkeypatch.syspath_prepend(folder)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def cluster(grid, monkeypatch):
    """The head of a cluster that has patience with a busy machine, and sees at once that a node is gone."""
    from ray._private import node
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_worker_register_timeout_seconds", f"{PATIENCE:.0f}")
    monkeypatch.setenv("RAY_health_check_timeout_ms", f"{1000 * PATIENCE:.0f}")
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    slowly = SimpleNamespace(sleep=time.sleep, time=time.time, monotonic=lambda: time.monotonic() * 30 / PATIENCE)
    monkeypatch.setattr(node, "time", slowly)  # a node has thirty seconds to start, whatever else runs
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made
    made.shutdown()


def comparable(out):
    results = [RunFolder(path.parent).result() for path in sorted(out.glob("*/result.json"))]
    return [{key: value for key, value in result.items() if key != "cost"} for result in results]


def test_a_node_killed_in_the_middle_costs_nothing_and_results_are_those_of_runs_left_alone(grid, cluster, capsys):
    node = cluster.add_node(num_cpus=1)
    out, held = grid.parent / "ray", grid.parent / "held"
    held.write_text(str(os.getpid()))  # this process makes networks, too, and is not to wait

    def kill_a_node_when_both_runs_have_a_checkpoint():
        wait_for(lambda: len(list(out.glob("*/checkpoint/task-001.safetensors"))) == 2)
        raylet = node.all_processes["raylet"][0].process.pid
        workers = subprocess.run(["pgrep", "-P", str(raylet)], capture_output=True, text=True).stdout.split()
        cluster.remove_node(node, allow_graceful=False)
        for worker in workers:  # a machine that dies takes its workers along; here they might live on and finish
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(worker), signal.SIGKILL)
        held.unlink()

    killer = threading.Thread(target=kill_a_node_when_both_runs_have_a_checkpoint)
    killer.start()
    code = exit_code(["grid", str(grid), "--out", str(out), "--engine", "ray", "--address", cluster.address, "--json"])
    killer.join()
    said = capsys.readouterr()
    assert code == 0, said.err
    runs = json.loads(said.out)
    assert [run["status"] for run in runs] == ["done", "done"]
    assert sorted(run["tries"] for run in runs) == [1, 2]
    assert "Its worker was lost" in said.err
    resumed = [
        event["tasks_done"]
        for run in runs
        for event in RunFolder(out / run["run"]).events()
        if event["event"] == "resumed"
    ]
    assert len(resumed) == 1
    assert resumed[0] >= 1  # from a checkpoint, not from the start

    alone = grid.parent / "alone"
    for seed in ("0", "1"):
        assert exit_code([*RUN, "--seed", seed, "--out", str(alone)]) == 0
    assert comparable(out) == comparable(alone)
    assert len(comparable(out)) == 2


def test_no_cluster_at_an_address_is_said_in_a_sentence(grid, capsys):
    assert exit_code(["grid", str(grid), "--engine", "ray", "--address", "127.0.0.1:1"]) == 1
    assert "There is no Ray cluster at 127.0.0.1:1" in capsys.readouterr().err
