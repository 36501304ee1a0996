"""How well a grid uses a second worker: the same runs with one worker and with two.

    python benchmarks/engines.py                      # two or three minutes on two free cores
    python benchmarks/engines.py --engine ray         # the same on Ray, a node for each worker
    python benchmarks/engines.py --tiny               # seconds, for tests: the figures mean nothing

Efficiency is the time that one worker takes, over twice the time that two take: 1 is ideal. What is lost is the start of workers,
a last run that has no company, and what two processes take from each other's caches and memory bandwidth; the last part alone
shows in the CPU time of a run. On a machine that does other work at the time, only the latter can be trusted.
"""

import argparse
import io
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.engines.engine import Engine
from merlin_cl.runs.engines.local import LocalEngine
from merlin_cl.runs.folder import run_folders
from merlin_cl.runs.grid import compute_grid
from merlin_cl.runs.jobs import Checker
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.streams.registry import stream_settings


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--method", default="merlin")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    stream = stream_settings("split-mnist")(**({"tasks": 2, "images_per_task": 20} if options.tiny else {}))
    method = method_settings("single" if options.tiny else options.method).preset("default", stream.info())
    configs = [RunConfig(stream, method, seed) for seed in range(2 if options.tiny else options.runs)]
    tiny = stream_settings("split-mnist")(tasks=1, images_per_task=20)
    if options.engine == "local":  # the server that processes are forked from is started once, not for each measurement
        measure("local", 1, [RunConfig(tiny, method_settings("single").preset("default", tiny.info()))])
    measured = [measure(options.engine, workers, configs) for workers in (1, 2)]
    one, two = measured
    figures = {
        "engine": options.engine,
        "runs": len(configs),
        "method": method.method,
        "load": os.getloadavg()[0],
        "workers": measured,
        "efficiency": round(one["seconds"] / (2 * two["seconds"]), 3),
        "efficiency_of_cpu": round(one["cpu_seconds_a_run"] / two["cpu_seconds_a_run"], 3),
    }
    print(json.dumps(figures, indent=1))


def measure(name: str, workers: int, configs: list[RunConfig]) -> dict[str, Any]:
    """Wall time of the grid from the first run begun to the last one ended, and CPU time of a run."""
    show = PlainDisplay(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, engine(name, Path(folder), workers) as chosen:
        jobs = Checker(show).jobs(configs)
        begun = time.monotonic()
        state = compute_grid(jobs, Path(folder), chosen, 0, show)
        seconds = time.monotonic() - begun
        assert len(state.of("done")) == len(configs), [entry.reason for entry in state.entries]
        results = [run.result() for run in run_folders(Path(folder))]
    return {
        "workers": workers,
        "seconds": round(seconds, 3),
        "cpu_seconds_a_run": round(mean(sum(result["cost"]["cpu_seconds"].values()) for result in results), 2),
    }


@contextmanager
def engine(name: str, root: Path, workers: int) -> Iterator[Engine]:
    """An engine with so many workers; on Ray each is a node of its own."""
    if name == "local":
        yield LocalEngine(root, threads=1, workers=workers)
        return
    from ray.cluster_utils import Cluster

    from merlin_cl.runs.engines.ray import RayEngine

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        for _ in range(workers - 1):
            cluster.add_node(num_cpus=1)
        yield RayEngine(root, threads=1, address=cluster.address)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
