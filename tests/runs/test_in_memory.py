"""A run in memory finds what a run in a folder finds, from a name, a path or a stream."""

import numpy as np
import pytest

from merlin_cl import Stream, run
from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.run import run as run_in_folder
from merlin_cl.streams.registry import stream_settings

SMALL = {"tasks": 2, "images_per_task": 30}
LITTLE = {"hidden_units": [8], "updates_per_batch": 1}


def own():
    x = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    y = np.arange(80) % 4
    x[np.arange(80), y % 3] += 5 * (1 + y // 3)
    return x, y


def test_it_finds_what_a_run_in_a_folder_finds(tmp_path, silent):
    outcome = run("split-mnist", "single", settings=LITTLE, seed=2, **SMALL)
    config = RunConfig(stream_settings("split-mnist")(**SMALL), outcome.learner.settings, seed=2)
    result = run_in_folder(config, tmp_path, silent).result()
    for score in result["scores"]:
        assert outcome.matrix(score["view"], score["inference"]) == score["matrix"]
    assert outcome.final_accuracy == result["scores"][0]["final_accuracy"]
    assert outcome.average_incremental_accuracy == result["scores"][0]["average_incremental_accuracy"]


def test_it_takes_a_stream_and_settings():
    stream = Stream.from_arrays(*own(), tasks=2)
    outcome = run(stream, SingleSettings(hidden_units=(8,)))
    assert len(outcome.matrix()) == 2
    assert outcome.matrix()[0][1] is None


def test_it_takes_a_path(tmp_path):
    x, y = own()
    np.savez(tmp_path / "own.npz", x=x, y=y)
    by_path = run(tmp_path / "own.npz", "slda", tasks=2)
    assert by_path.matrix("class-incremental") == run(str(tmp_path / "own.npz"), "slda", tasks=2).matrix()


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (("split-mnits",), {}, "split-mnist"),
        (("split-mnist", "singel"), {}, "single"),
        (("split-mnist", "single"), {"taks": 2}, "tasks"),
        (("split-mnist", "single"), {"settings": {"exemplars": 2}}, "exemplars"),
        (("split-mnist", "single"), {"inference": "aware", **SMALL}, "aware"),
        (("split-mnist", "single"), {"batch_size": 0, **SMALL}, "batch size is 0"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(arguments, settings, said):
    with pytest.raises(UsageError, match=rf"{said}.*[.?]$"):
        run(*arguments, **settings)


def test_settings_of_a_stream_that_is_made_are_refused():
    with pytest.raises(UsageError, match="tasks is a setting of a stream that is named"):
        run(Stream.from_arrays(*own(), tasks=2), "single", tasks=2)


def test_a_view_that_was_not_asked_for_is_refused():
    outcome = run(Stream.from_arrays(*own(), tasks=2), SingleSettings(hidden_units=(8,)))
    with pytest.raises(UsageError, match="domain-incremental"):
        outcome.matrix("domain-incremental")
