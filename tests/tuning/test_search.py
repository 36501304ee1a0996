import json
from dataclasses import replace

import pytest

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.registry import BUILT_IN, method_settings
from merlin_cl.learners.rivals.single import Single
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tuning import search as searching
from merlin_cl.tuning.objective import DrawnTasks
from merlin_cl.tuning.plan import Plan, searched
from merlin_cl.tuning.search import search
from merlin_cl.tuning.trials import StudyFolder, Trial


def what_was_tried(folder):
    return [(trial.number, trial.values, trial.curve, trial.state) for trial in folder.trials()]


@pytest.fixture
def folder(plan, tmp_path, silence):
    return search(plan, tmp_path, 9, silence)


def test_the_first_trial_is_the_defaults(plan, folder):
    assert folder.trials()[0].values == plan.start == {"noise": 0.1, "exemplars": 7}


def test_every_trial_is_within_the_space(plan, folder):
    for trial in folder.trials():
        assert trial.values.keys() == plan.method.space.keys()
        assert all(value in plan.method.space[name] for name, value in trial.values.items())


def test_the_best_trial_is_chosen_and_recorded_with_the_search(plan, folder):
    record = json.loads(folder.chosen.read_text())
    trials = folder.trials()
    complete = [trial for trial in trials if trial.state == "complete"]
    assert record["value"] == max(trial.value for trial in complete)
    assert record["settings"] == next(trial.values for trial in complete if trial.value == record["value"])
    assert [trial["values"] for trial in record["trials"]] == [trial.values for trial in trials]
    assert (record["method"], record["seeds"], record["space"]["exemplars"]) == ("searched", [7, 8], [7, 8])
    assert (record["stream"]["tasks"], record["stream"]["evaluation"]) == (3, "held-out")
    assert record["measure"]["view"] == "class-incremental"
    assert record["command"].startswith("merlin tune searched split-mnist --images-per-task 20 --trials 9 --seeds 7 8")
    assert {"source", "revision", "versions", "obtained"} <= record.keys()


def test_an_interrupted_search_makes_the_trials_of_one_that_was_not(plan, folder, tmp_path, silence, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    trying, made = searching._try, []

    def interrupted(*arguments):
        if len(made) == 6:
            raise KeyboardInterrupt
        made.append(trying(*arguments))
        return made[-1]

    monkeypatch.setattr(searching, "_try", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search(plan, elsewhere, 9, silence)
    half = StudyFolder(elsewhere, plan)
    assert len(half.trials()) == 6
    with (half.path / "events.jsonl").open("a") as file:
        file.write('{"event": "trial", "tri')  # killed while writing
    monkeypatch.setattr(searching, "_try", trying)
    assert what_was_tried(search(plan, elsewhere, 9, silence)) == what_was_tried(folder)
    kept = {"trials", "revision", "versions"}
    first, second = (json.loads(each.chosen.read_text()) for each in (folder, half))
    assert {name: first[name] for name in first.keys() - kept} == {name: second[name] for name in second.keys() - kept}


def test_a_finished_search_is_not_made_again(plan, folder, tmp_path, silence, monkeypatch):
    monkeypatch.setattr(searching, "_try", None)
    assert what_was_tried(search(plan, tmp_path, 9, silence)) == what_was_tried(folder)


def test_a_trial_that_fails_is_recorded_and_not_chosen(plan, tmp_path, silence):
    plan = replace(plan, method=with_space(plan.method, {"noise": searching.Among(0.1, 20.0)}))
    folder = search(plan, tmp_path, 8, silence)
    failed = [trial for trial in folder.trials() if trial.state == "failed"]
    assert failed
    assert {trial.error for trial in failed} == {"ValueError: too much noise"}
    assert json.loads(folder.chosen.read_text())["settings"]["noise"] < 10


def with_space(method, space):
    return type("Changed", (method,), {"space": space})


@pytest.mark.parametrize(("others", "state", "tasks"), [(100.0, "pruned", 2), (0.0, "complete", 3)])
def test_what_fares_worse_than_most_is_given_up_but_not_after_one_task(plan, silence, others, state, tasks):
    plan = replace(plan, method=with_space(plan.method, {"noise": searching.Among(0.1, 0.2)}))
    done = [Trial(number, plan.start, (others,) * 3, "complete", 1.0) for number in range(5)]
    trial = searching._try(plan, [DrawnTasks(plan, 7)], done, searching._Progress(silence, 20, 3, len(done)))
    assert (trial.state, len(trial.curve)) == (state, tasks)


def test_a_trial_is_scored_on_training_images_that_it_does_not_learn_from(plan):
    drawn = DrawnTasks(plan, 7)
    learned = {bytes(x.numpy().tobytes()) for task in drawn.batches for batch, _ in task for x in batch}
    scored = {bytes(x.numpy().tobytes()) for task in drawn.stream for x in task.test()[0]}
    test = {
        bytes(x.numpy().tobytes()) for task in replace(plan.stream, evaluation="test").build(7) for x in task.test()[0]
    }
    assert learned
    assert not learned & scored
    assert not learned & test
    assert not scored & test


def test_every_trial_learns_the_same_examples(plan):
    settings = method_settings("single")(hidden_units=(4,))
    drawn = DrawnTasks(plan, 7)
    weights = []
    for _ in range(2):
        learner = Single(drawn.stream.info, settings, 7)
        drawn.learn(learner, 0)
        weights.append(learner.state()["method"]["weights"])
    assert weights[0].equal(weights[1])


@pytest.mark.parametrize("method", [name for name in BUILT_IN if name not in ("merlin-paper", "gdumb-ensemble")])
def test_every_rival_has_a_space_that_its_settings_accept(method):
    kind = method_settings(method)
    plan = Plan(kind, searched(stream_settings("split-mnist")))
    assert kind.space
    assert all(value in kind.space[name] for name, value in plan.start.items())
    for name, part in kind.space.items():
        for value in part.values if isinstance(part, searching.Among) else (part.low, part.high):
            assert getattr(plan.settings({name: value}), name) == value


@pytest.mark.parametrize("stream", ["split-cifar10", "permuted-mnist", "split-mnist"])
@pytest.mark.parametrize("method", [name for name in BUILT_IN if name not in ("merlin-paper", "gdumb-ensemble")])
def test_the_first_trial_is_what_a_method_has_without_a_search(method, stream, monkeypatch):
    monkeypatch.setattr("merlin_cl.learners.settings.tuned_settings", lambda *_: {})
    plan = Plan(method_settings(method), searched(stream_settings(stream)))
    assert plan.settings(plan.start) == plan.method.preset("default", plan.info)


def test_a_method_of_which_nothing_is_left_to_search_is_refused():
    only_shared = with_space(method_settings("er"), {"replay": searching.Among(10, 20)})
    assert Plan(only_shared, searched(stream_settings("split-mnist"))).space.keys() == {"replay"}
    with pytest.raises(UsageError, match="er names only settings that all methods share on photographs"):
        Plan(only_shared, searched(stream_settings("split-cifar10")))


def test_on_photographs_the_means_that_all_share_are_not_searched():
    digits, photographs = (
        Plan(method_settings("der++"), searched(stream_settings(name))) for name in ("split-mnist", "split-cifar10")
    )
    assert {"learning_rate", "updates_per_batch", "replay", "alpha", "beta"} == digits.space.keys()
    assert {"learning_rate", "alpha", "beta"} == photographs.space.keys() == photographs.record()["space"].keys()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seeds": ()}, r"seeds are \[\]; give at least one"),
        ({"seeds": (1, 1)}, "each once"),
        ({"batch_size": 0}, "batch_size is 0; it must be at least 1"),
        (
            {"method": method_settings("gdumb-ensemble")},
            "gdumb-ensemble names no settings to search; choose from: merlin, lookup, gdumb, single",
        ),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(plan, changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        replace(plan, **changes)


def test_a_stream_without_held_out_images_is_refused():
    with pytest.raises(UsageError, match="no held-out training images"):
        searched(stream_settings("heterogeneous"))


def test_test_data_are_not_looked_at(plan):
    with pytest.raises(UsageError, match="no test data"):
        replace(plan, stream=replace(plan.stream, evaluation="test"))


def test_a_search_on_other_data_is_not_gone_on_with(plan, folder, tmp_path, silence, monkeypatch):
    build = type(plan.stream).build

    def other(settings, seed, data=None):
        stream = build(settings, seed, data)
        stream.fingerprint = "other"
        return stream

    monkeypatch.setattr(type(plan.stream), "build", other)
    with pytest.raises(MerlinError, match="were made with other data"):
        search(plan, tmp_path, 10, silence)
