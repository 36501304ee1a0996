"""The grids under experiments/ can be run, and those of rivals leave no method out."""

import pkgutil
from pathlib import Path

import pytest

from merlin_cl.cli.run import configured
from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.runs.grid_file import read_grid

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.mark.parametrize("grid", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_a_grid_stands_for_runs_with_names_of_their_own(grid):
    configs = read_grid(grid).configs
    assert len({config.name for config in configs}) == len(configs) > 0
    for settings, inference in {(type(config.method), config.inference) for config in configs}:
        assert inference in ("all", *pkgutil.resolve_name(settings.learner).inferences), settings.method


@pytest.mark.parametrize(("stream", "without"), [("split-mnist", set()), ("permuted-mnist", {"icarl"})])
def test_every_method_is_among_the_rivals(stream, without):
    configs = read_grid(FOLDER / f"rivals-{stream}.toml").configs
    for seed in range(5):
        assert {config.method.method for config in configs if config.seed == seed} == set(BUILT_IN) - without


def test_a_run_of_a_grid_is_that_of_the_command_line():
    configs = read_grid(FOLDER / "rivals-split-mnist.toml").configs
    for words in (["--method", "er"], ["--method", "ewc", "--online"], ["--method", "slda", "--features", "learned"]):
        assert configured(["split-mnist", "--seed", "3", *words])[1] in configs
