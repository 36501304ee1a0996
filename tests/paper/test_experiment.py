"""The paper's tables and figures as declared: every published number is asked for, and every line can be run."""

import json
from importlib.resources import files

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_settings
from merlin_cl.paper.experiment import experiment, experiment_names, view_for
from merlin_cl.paper.published import PAPER_NAMES, first_tasks, published
from merlin_cl.paper.trials import TrialOptions, trials
from merlin_cl.streams.registry import stream_settings

TABLES = json.loads(files("merlin_cl.paper").joinpath("tables.json").read_text("utf-8"))["tables"]


def test_every_number_in_the_paper_is_asked_for_by_some_table():
    asked = set()
    for name in experiment_names():
        chosen = experiment(name)
        for trial in trials(chosen, TrialOptions(seeds=1)):
            stream = trial.stream.stream
            for measure in chosen.measures:
                curve = [{"task": task + 1} for task in range(trial.stream.outline().tasks)]
                for param in curve if chosen.kind == "curves" else [{}]:
                    assert chosen.published(trial.line, stream, measure, **param) is not None or chosen.kind == "scores"
                    wanted = json.dumps(trial.line.param | param, sort_keys=True)
                    method = PAPER_NAMES.get(trial.line.method, trial.line.method)
                    asked.add((chosen.table.format(stream=stream), method, stream, measure, wanted))
    printed = {
        (table["id"], row["method"], row["benchmark"], row["metric"], json.dumps(row.get("param", {}), sort_keys=True))
        for table in TABLES
        for row in table["rows"]
        if row["mean"] is not None
    }
    assert printed - asked == set()


@pytest.mark.parametrize("name", experiment_names())
def test_every_line_names_a_stream_a_method_and_settings_that_exist(name):
    chosen = experiment(name)
    lines = trials(chosen, TrialOptions(seeds=2))
    assert lines
    for trial in lines:
        assert trial.stream == stream_settings(trial.stream.stream)()  # streams as in the paper
        assert len({config.digest for config in trial.configs}) == len(trial.configs)
        for inference in trial.line.inferences:
            assert view_for(trial.stream.stream, inference) in trial.stream.outline().views
    if chosen.kind == "scores" and len(chosen.lines) > 1 and name != "memory":
        assert sum(line.reference for line in chosen.lines) == 1


def test_tables_that_show_the_same_runs_share_them():
    shared = [
        {config.digest for trial in trials(experiment(name), TrialOptions()) for config in trial.configs}
        for name in ("main", "taskwise")
    ]
    assert shared[1] < shared[0]  # which has controls besides


@pytest.mark.parametrize("name", experiment_names())
def test_runs_of_ablations_answer_in_the_one_way_that_is_asked_for(name):
    for trial in trials(experiment(name), TrialOptions(seeds=1)):
        assert {config.inference for config in trial.configs} == {
            trial.line.inferences[0] if trial.line.alone else "all"
        }
        if trial.line.alone:
            assert trial.line.settings
            assert len(trial.line.inferences) == 1


@pytest.mark.parametrize("name", experiment_names())
def test_the_paper_s_numbers_for_merlin_stand_beside_its_recipe_as_printed(name):
    chosen = experiment(name)
    recipes = [line for line in chosen.lines if line.method == "merlin-paper"]
    assert recipes
    for line in chosen.lines:
        if line.method == "merlin" and line.param and chosen.kind == "scores":
            assert line.param in [recipe.param for recipe in recipes]  # ours is a further row
            assert line.title.startswith("merlin (ours)")
    for trial in trials(chosen, TrialOptions(seeds=1, methods=("merlin-paper",))):
        assert {config.method.recipe.vote for config in trial.configs} <= {"majority", "sum-logits"}
        assert trial.configs[0].method.models in (1, 30, 50, 100)


@pytest.mark.parametrize("tasks", [1, 2, 99])
def test_fewer_tasks_are_the_first_ones(tasks):
    for name in ("main", "additional", "20-tasks"):
        for trial in trials(experiment(name), TrialOptions(tasks=tasks, seeds=1)):
            whole = stream_settings(trial.stream.stream)().outline().tasks
            assert trial.stream.outline().tasks == min(tasks, whole)
            assert trial.shortened == (tasks < whole)


def test_less_data_than_the_paper_s_is_said_wherever_numbers_are_shown():
    choice = TrialOptions(seeds=1, images_per_task=480, datasets=("mnist", "svhn"))
    lines = trials(experiment("additional"), choice)
    assert {trial.stream.images_per_task for trial in lines} == {480}
    assert {trial.stream.datasets for trial in lines if trial.stream.stream == "heterogeneous"} == {("mnist", "svhn")}
    assert "Only 480 training images a task." in choice.label
    assert "only mnist, svhn." in choice.label
    with pytest.raises(UsageError, match="images_per_task is 0"):
        TrialOptions(images_per_task=0)
    with pytest.raises(UsageError, match="did you mean 'mnist'"):
        trials(experiment("additional"), TrialOptions(datasets=("mnits",)))


def test_what_a_table_does_not_have_is_refused():
    with pytest.raises(UsageError, match="stream of memory 'split-mnist'"):
        trials(experiment("memory"), TrialOptions(streams=("split-mnist",)))
    with pytest.raises(UsageError, match="method of ensemble 'gem'"):
        trials(experiment("ensemble"), TrialOptions(methods=("gem",)))
    with pytest.raises(UsageError, match="did you mean 'memory'"):
        experiment("memroy")
    with pytest.raises(UsageError, match="seeds is 0"):
        TrialOptions(seeds=0)


def test_figures_without_published_numbers_can_be_drawn_of_any_stream():
    (trial,) = trials(experiment("priors"), TrialOptions(streams=("split-mnist",)))
    assert trial.stream.stream == "split-mnist"
    with pytest.raises(UsageError, match="did you mean 'split-mnist'"):
        trials(experiment("priors"), TrialOptions(streams=("split-mnits",)))


def test_the_first_tasks_of_the_paper_come_from_its_task_wise_tables():
    cells = [published("taskwise-split-mnist", "gem", "split-mnist", "task-accuracy", task=k).mean for k in (1, 2, 3)]
    assert first_tasks("gem", "split-mnist", 3).mean == pytest.approx(sum(cells) / 3, abs=0.01)
    assert first_tasks("gem", "split-mnist", 6) is None
    assert first_tasks("gem", "audio-mnist", 2) is None
    assert first_tasks("icarl", "permuted-mnist", 2) is None


def test_rivals_have_the_paper_s_network_beside_its_main_table_and_merlin_s_beside_the_small_one():
    def settings(name, stream, method):
        lines = trials(experiment(name), TrialOptions(seeds=1, streams=(stream,), methods=(method,)))
        (config,) = lines[0].configs
        return config.method.record()

    for method in ("single", "ewc", "gem", "icarl", "gss"):
        main, small = (settings(name, "split-cifar10", method) for name in ("main", "small-backbone"))
        assert (main["network"], small["network"]) == ("resnet18", "auto")
        assert {one["updates_per_batch"] for one in (main, small)} == {1}
        assert {one["augmentation"] for one in (main, small)} == {"none"}
        assert settings("main", "split-mnist", method)["network"] == "auto"
    assert settings("main", "split-cifar10", "merlin")["network"] == "auto"


def test_rivals_with_the_paper_s_means_have_no_settings_of_a_search_with_ours():
    def of_main(method):
        return trials(experiment("main"), TrialOptions(seeds=1, streams=("split-cifar10",), methods=(method,)))[0]

    for method in ("single", "ewc", "gem", "icarl", "gss"):
        trial = of_main(method)
        untuned = method_settings(method).untuned(trial.stream.info())
        assert trial.configs[0].method == untuned.changed({**trial.line.settings, **trial.line.photographs})
    searched = method_settings("merlin").preset("default", of_main("merlin").stream.info())
    assert of_main("merlin").configs[0].method == searched


@pytest.mark.parametrize("name", ["taskwise", "cndpm-prior", "memory"])
def test_rivals_of_tables_that_repeat_the_main_one_are_those_of_main(name):
    def rivals(table):
        lines = experiment(table).lines
        return {
            line.method: line.photographs for line in lines if line.method in ("single", "ewc", "gem", "icarl", "gss")
        }

    of_main = rivals("main")
    own = ("exemplars",)  # which Table 6 varies
    for method, settings in rivals(name).items():
        assert {key: value for key, value in settings.items() if key not in own} == of_main[method]
