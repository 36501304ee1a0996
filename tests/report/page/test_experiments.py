"""Runs sorted into streams, experiments and seeds."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.report.page.experiments import sort_runs
from merlin_cl.report.page.series import series_of
from merlin_cl.report.page.sources import find, read

from ..made import make_run


def sorted_runs(*paths, unfinished=False):
    return sort_runs(read(find(paths)).runs, unfinished=unfinished)


def test_experiments_stand_in_the_order_of_their_accuracy(runs):
    make_run(runs, "cn-dpm", level=99.0)
    make_run(runs, "joint", level=99.9)
    (group,) = sorted_runs(runs)
    labels = [experiment.label for experiment in group.experiments]
    assert labels == ["cn-dpm", "merlin", "gdumb-ensemble", "single", "joint"]


def test_streams_with_other_settings_are_not_put_side_by_side(tmp_path):
    make_run(tmp_path, stream_values={"tasks": 2})
    make_run(tmp_path, stream_values={"tasks": 3})
    make_run(tmp_path, stream="permuted-mnist")
    assert [group.title for group in sorted_runs(tmp_path)] == [
        "Split MNIST (the first 2 tasks)",
        "Split MNIST (the first 3 tasks)",
        "Permuted MNIST (the first 3 tasks)",
    ]


@settings(max_examples=6, deadline=None)
@given(models=st.sets(st.integers(1, 40), min_size=1, max_size=4))
def test_every_experiment_on_a_stream_has_a_name_of_its_own(tmp_path_factory, models):
    root = tmp_path_factory.mktemp("runs")
    for count in models:
        make_run(root, models=count)
    (group,) = sorted_runs(root)
    labels = [experiment.label for experiment in group.experiments]
    assert len(set(labels)) == len(labels) == len(models)


def test_the_control_has_the_same_budget_of_exemplars(tmp_path):
    make_run(tmp_path, exemplars=50)
    make_run(tmp_path, "gdumb-ensemble", exemplars=100)
    (group,) = sorted_runs(tmp_path)
    (ours,) = (one for one in group.experiments if one.label == "merlin")
    assert group.control_of(ours) is None
    make_run(tmp_path, "gdumb-ensemble", exemplars=50)
    (group,) = sorted_runs(tmp_path)
    (ours,) = (one for one in group.experiments if one.label == "merlin")
    control = group.control_of(ours)
    assert control is not None
    assert control.row.exemplars == 50
    assert group.control_of(control) is None


def test_runs_that_are_not_finished_are_measured_as_far_as_the_slowest_has_come(tmp_path):
    make_run(tmp_path, "er", 0, done=2)
    make_run(tmp_path, "er", 1, done=1)
    (group,) = sorted_runs(tmp_path, unfinished=True)
    (experiment,) = group.experiments
    assert experiment.row.values["nll"] == {0: 0.1, 1: 1.1}
    assert series_of(group, experiment, 0)["ece"]["mean"] == 1.5


def test_seeds_that_are_not_finished_do_not_touch_the_figures(runs):
    (before,) = sorted_runs(runs, unfinished=True)
    make_run(runs, seed=7, done=1, level=10.0)
    (after,) = sorted_runs(runs, unfinished=True)
    assert after.experiments[0].row.mean == before.experiments[0].row.mean
    assert [run.seed for run in after.experiments[0].waiting] == [7]


def test_an_experiment_of_which_nothing_is_finished_goes_as_far_as_its_slowest_seed(tmp_path):
    make_run(tmp_path, seed=0, done=2)
    make_run(tmp_path, seed=1, done=1)
    (group,) = sorted_runs(tmp_path, unfinished=True)
    (experiment,) = group.experiments
    assert (experiment.tasks, experiment.finished, experiment.row.paper) == (1, False, None)
    assert sorted_runs(tmp_path, unfinished=False) == []


def test_a_series_says_what_it_has_above_the_control_over_common_seeds(runs):
    for seed in (3, 4):
        make_run(runs, "merlin", seed)
        make_run(runs, "gdumb-ensemble", seed)
    (group,) = sorted_runs(runs)
    ours, control, _ = group.experiments
    above = series_of(group, ours, 0)["above_control"]
    name = "average_incremental_accuracy"
    both = [ours.rows[0].values[name][seed] - control.rows[0].values[name][seed] for seed in range(5)]
    assert abs(above["mean"] - sum(both) / 5) < 1e-3
    assert above["low"] < above["mean"] < above["high"]
    assert series_of(group, control, 0)["above_control"] is None


def test_the_mean_matrix_is_the_mean_of_the_seeds(runs):
    (group,) = sorted_runs(runs)
    ours = group.experiments[0]
    averaged = series_of(group, ours, 0)["matrix"]
    matrices = [result["scores"][0]["matrix"] for result in ours.results]
    for k in range(3):
        for j in range(3):
            if j > k:
                assert averaged[k][j] is None
            else:
                assert abs(averaged[k][j] - sum(matrix[k][j] for matrix in matrices) / 3) < 1e-3


def test_streams_that_differ_in_their_data_alone_have_titles_of_their_own(tmp_path):
    make_run(tmp_path)
    other = make_run(tmp_path, seed=1)
    for name in ("config.json", "result.json"):
        record = json.loads((other / name).read_text())
        (other / name).write_text(json.dumps(record | {"source": "elsewhere"}))
    titles = [group.title for group in sorted_runs(tmp_path)]
    assert len(set(titles)) == 2
