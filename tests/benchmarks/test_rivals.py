"""Which runs make the tables of rivals."""

import runpy
import time
from pathlib import Path

from merlin_cl.cli.run import configured
from merlin_cl.learners.registry import BUILT_IN

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "rivals.py"


def test_runs_are_all_methods_of_a_seed_before_the_next():
    jobs = runpy.run_path(str(SCRIPT))["jobs"](["split-mnist", "permuted-mnist"], list(BUILT_IN), [0, 1])
    configs = [configured(list(job))[1] for job in jobs]
    assert len({config.name for config in configs}) == len(configs)
    for stream in ("split-mnist", "permuted-mnist"):
        own = [config for config in configs if config.stream.stream == stream]
        assert [config.seed for config in own] == sorted(config.seed for config in own)
        expected = set(BUILT_IN) - ({"icarl"} if stream == "permuted-mnist" else set())
        assert {config.method.method for config in own if config.seed == 1} == expected


def test_as_many_run_at_once_as_there_are_workers(tmp_path):
    def call(arguments):
        (name,) = arguments
        (tmp_path / name).touch()
        while len(list(tmp_path.iterdir())) < 2:  # waits for its companion: alone it would wait for ever
            time.sleep(0.01)
        return int(name)

    ended = runpy.run_path(str(SCRIPT))["in_processes_of_their_own"]([["0"], ["3"], ["1"]], 2, call)
    assert sorted(ended) == [(["0"], 0), (["1"], 1), (["3"], 3)]


def test_one_worker_takes_one_after_another(tmp_path):
    def call(arguments):
        (tmp_path / "running").mkdir()  # fails where another runs
        time.sleep(0.02)
        (tmp_path / "running").rmdir()
        return 0

    names = [["0"], ["1"], ["2"]]
    assert list(runpy.run_path(str(SCRIPT))["in_processes_of_their_own"](names, 1, call)) == [(n, 0) for n in names]
