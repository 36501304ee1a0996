"""A real Ray cluster of two nodes on this machine, one of which is killed while it works."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code
from merlin_cl.runs.folder import RunFolder

pytest.importorskip("ray", reason="the package ray is not installed: pip install 'merlin-cl[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

GRID = """
streams = [{name = "split-mnist", tasks = 3, images_per_task = 60}]
methods = [{name = "single", network = "held_network:factory"}]
seeds = 2
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    """The grid's file; its runs wait in their second task as long as the file `held` is there."""
    folder = str(Path(__file__).parent)
    monkeypatch.setenv("HELD", str(tmp_path / "held"))
    monkeypatch.setenv("PYTHONPATH", folder)  # for the nodes and their workers
    monkeypatch.syspath_prepend(folder)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def cluster(grid):
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made
    made.shutdown()


def comparable(out):
    results = [RunFolder(path.parent).result() for path in sorted(out.glob("*/result.json"))]
    return [{key: value for key, value in result.items() if key != "cost"} for result in results]


def test_a_node_killed_in_the_middle_costs_nothing_and_results_are_those_of_the_local_engine(grid, cluster, capsys):
    node = cluster.add_node(num_cpus=1)
    out, held = grid.parent / "ray", grid.parent / "held"
    held.touch()

    def kill_a_node_when_both_runs_have_a_checkpoint():
        deadline = time.monotonic() + 240
        while len(list(out.glob("*/checkpoint/task-001.safetensors"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
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

    local = grid.parent / "local"
    assert exit_code(["grid", str(grid), "--out", str(local)]) == 0
    assert comparable(out) == comparable(local)
    assert len(comparable(out)) == 2


def test_no_cluster_at_an_address_is_said_in_a_sentence(grid, capsys):
    assert exit_code(["grid", str(grid), "--engine", "ray", "--address", "127.0.0.1:1"]) == 1
    assert "There is no Ray cluster at 127.0.0.1:1" in capsys.readouterr().err
