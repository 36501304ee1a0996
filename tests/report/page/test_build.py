"""The page of runs that were really computed, so that made-up folders cannot hide a change of their form."""

import io

import pytest

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.report.page.build import content
from merlin_cl.report.page.render import page
from merlin_cl.report.page.sources import find, read
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.runs.run import run
from merlin_cl.streams.settings import SplitMnistSettings

from ..made import make_run

SMALL = {"hidden_units": (10,), "base_models": 2, "models": 2, "fine_tune_epochs": 1}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    stream = SplitMnistSettings(tasks=2, images_per_task=20)
    run(RunConfig(stream, MerlinSettings(**SMALL, exemplars=8)), root, PlainDisplay(io.StringIO()))
    return root


def test_everything_is_there(root):
    (stream,) = content(read(find([root])).runs)["streams"]
    (experiment,) = stream["experiments"]
    assert stream["task_names"] == ["0 and 1", "2 and 3"]
    assert len(experiment["latent"]["priors"]) == 4  # two components of two tasks
    assert experiment["gallery"]["count"] == 8
    assert len(experiment["diagnosis"]["chart"]) == 2
    assert experiment["diagnosis"]["verdicts"]
    assert experiment["environments"][0]["facts"]["torch"]


def test_the_page_can_be_written(root):
    assert "0 and 1" in page(content(read(find([root])).runs))


def test_made_up_runs_have_the_form_of_real_ones(root, tmp_path):
    real = next(root.iterdir())
    made = make_run(tmp_path, stream_values={"tasks": 2}, **SMALL, exemplars=8)
    first, second = read([real]).runs[0], read([made]).runs[0]
    assert set(first.result) == set(second.result)
    assert set(first.result["scores"][0]) == set(second.result["scores"][0])
    losses = {"losses"}  # those of a learned decoder, which MERLIN's is not
    assert {event["event"] for event in second.events} - losses == {event["event"] for event in first.events}
    for kind in ("accuracy", "probe", "task", "checkpoint", "started"):
        one, other = (next(event for event in run.events if event["event"] == kind) for run in (first, second))
        assert set(one) == set(other)
    assert set(first.environment) == set(second.environment)
