"""Which runs make the tables of rivals."""

import runpy
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
