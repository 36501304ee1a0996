"""All methods of a stream are searched alike, and never on what results are reported for."""

import runpy
from pathlib import Path

import pytest

from merlin_cl.learners.registry import method_settings
from merlin_cl.streams.registry import stream_settings

SCRIPT = Path(__file__).parents[2] / "experiments" / "search.py"
if not SCRIPT.is_file():
    pytest.skip("the experiments are not part of what was installed", allow_module_level=True)
_script = runpy.run_path(str(SCRIPT), run_name="search")
STREAMS, SHORT, SUMMED_UP, plans, ship = (_script[name] for name in ("STREAMS", "SHORT", "SUMMED_UP", "plans", "ship"))
every_stream = pytest.mark.parametrize("stream", STREAMS)


@every_stream
def test_every_method_that_names_settings_is_searched_once(stream):
    methods = [plan.method.method for plan in plans(stream, None)]
    assert len(methods) == len(set(methods)) > 15
    assert "merlin" in methods
    assert all(method_settings(method).space for method in methods)


@every_stream
def test_trials_see_the_first_tasks_of_other_seeds_and_no_test_data(stream):
    for plan in plans(stream, None):
        assert plan.stream.evaluation == "held-out"
        assert plan.stream.tasks < stream_settings(stream).tasks
        assert min(plan.seeds) >= 5  # results are of seeds 0 to 4
        seen = {"tasks": plan.stream.tasks, "images_per_task": plan.stream.images_per_task}
        assert (seen == SHORT) is (plan.method.method not in SUMMED_UP)


def test_a_method_with_nothing_to_search_is_refused_by_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["search.py", "split-cifar10", "--methods", "nonsense"])
    with pytest.raises(SystemExit):
        _script["main"]()
    assert "nothing to search for 'nonsense' on split-cifar10" in capsys.readouterr().err


def test_a_search_that_is_not_finished_is_not_shipped(tmp_path, capsys):
    class Folder:
        path, chosen = tmp_path, tmp_path / "chosen.json"

        def trials(self):
            return [None]

    ship(Folder())
    assert capsys.readouterr().out.startswith("not finished")
