"""What a run will take is foreseen from the nearest runs that are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.cost import Costs, work
from merlin_cl.runs.jobs import Job
from merlin_cl.runs.parse_settings import changed
from merlin_cl.streams.registry import stream_names, stream_settings


def job(stream, method, seed=0, **settings):
    made = stream_settings(stream)()
    return Job(RunConfig(made, changed(method_settings(method).preset("default", made.outline()), settings), seed))


def test_nothing_is_foreseen_of_nothing():
    assert Costs().expected(job("split-mnist", "single")) is None


def test_the_nearest_that_is_known_serves():
    costs = Costs()
    costs.add(job("split-mnist", "single"), 2.0)
    costs.add(job("split-mnist", "merlin-paper"), 40.0)
    assert costs.expected(job("split-mnist", "single", seed=3)) == pytest.approx(2.0)
    assert costs.expected(job("split-mnist", "merlin-paper", seed=3)) == pytest.approx(40.0)
    # Another number of models: the same method on the same stream, more to do.
    assert 40 < costs.expected(job("split-mnist", "merlin-paper", models=100)) < 40 * 100 / 30
    # Another stream: the same method, not the mean of all that is known.
    assert costs.expected(job("split-cifar10", "merlin-paper")) > 10 * costs.expected(job("split-cifar10", "single"))
    assert costs.expected(job("split-cifar10", "single")) > 2.0
    costs.add(job("split-cifar10", "single"), 30.0)
    assert costs.expected(job("split-cifar10", "single", seed=1)) == pytest.approx(30.0)


@given(seconds=st.lists(st.floats(0.1, 1e4), min_size=1, max_size=5))
def test_of_several_of_a_kind_the_mean_serves(seconds):
    costs = Costs()
    for seed, one in enumerate(seconds):
        costs.add(job("split-mnist", "ewc", seed), one)
    assert costs.expected(job("split-mnist", "ewc", 99)) == pytest.approx(sum(seconds) / len(seconds))


@pytest.mark.parametrize("name", stream_names())
def test_there_is_work_in_every_stream(name):
    assert work(job(name, "single").config) > 0
