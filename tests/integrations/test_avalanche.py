"""Avalanche's benchmarks to streams, and our methods in its loop; with objects that look like Avalanche's."""

import importlib

import pytest
import torch
from torch.utils.data import TensorDataset

from estimator.small import merlin
from merlin_cl import ContinualClassifier
from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.integrations.avalanche import to_benchmark, to_stream
from merlin_cl.integrations.avalanche_strategy import AvalancheStrategy

from .small import benchmark, experience, floats, images, small_stream

GROUPS = (0, 1), (2, 3)


def split(**attributes):
    return benchmark(
        [floats(*group, seed=at) for at, group in enumerate(GROUPS)],
        [floats(*group, count=20, seed=9 + at) for at, group in enumerate(GROUPS)],
        **attributes,
    )


def strategy(method="slda", boundaries="told", **options):
    return AvalancheStrategy(ContinualClassifier(method, boundaries=boundaries), **options)


def test_experiences_are_tasks():
    stream = to_stream(split(), name="theirs")
    assert (stream.info.name, stream.info.classes, stream.info.domain_incremental) == ("theirs", 4, False)
    assert [(task.info.classes, task.train_count, task.test_count) for task in stream] == [
        ((0, 1), 40, 20),
        ((2, 3), 40, 20),
    ]


def test_task_labels_of_examples_change_nothing():
    x, y = images(0, 1)
    labelled = benchmark([TensorDataset(x, y, torch.zeros(40)), TensorDataset(x, y, torch.ones(40))], [floats(0, 1)])
    assert to_stream(labelled).info.domain_incremental
    separate = to_stream(labelled, scenario="class-incremental")
    assert separate.class_names == ("task 0: 0", "task 0: 1", "task 1: 0", "task 1: 1")


def test_what_is_no_benchmark_is_refused():
    with pytest.raises(UsageError, match="has no train_stream"):
        to_stream([floats(0, 1)])


def test_without_avalanche_the_sentence_says_what_to_install(monkeypatch):
    def absent(name):
        raise ImportError("No module named 'avalanche'")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MerlinError, match="install avalanche-lib"):
        to_benchmark(small_stream(*GROUPS))


@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_loop_of_train_and_eval(as_bytes):
    theirs, learner = split(), strategy(as_bytes=as_bytes)
    for number, one in enumerate(theirs.train_stream):
        learner.train(one)
        assert learner.classifier.tasks_ == list(range(number + 1))
        assert not learner.classifier.learner_.learning
        scores = learner.eval(theirs.test_stream)
    place = "eval_phase/test_stream/Task000"
    assert list(scores) == [f"Top1_Acc_Exp/{place}/Exp000", f"Top1_Acc_Exp/{place}/Exp001", f"Top1_Acc_Stream/{place}"]
    assert scores[f"Top1_Acc_Stream/{place}"] > 0.9
    assert learner.classifier._form.bytes == as_bytes


def test_classes_that_have_not_come_yet_are_answered_wrong():
    theirs, learner = split(), strategy()
    learner.train(theirs.train_stream[0])
    assert list(learner.eval(theirs.test_stream).values()) == [1.0, 0.0, 0.5]
    assert list(learner.eval(theirs.test_stream[1]).values()) == [0.0, 0.0]


def test_merlin_learns_in_the_loop():
    theirs, learner = split(), AvalancheStrategy(merlin())
    learner.train(theirs.train_stream)
    assert learner.eval(theirs.test_stream)["Top1_Acc_Stream/eval_phase/test_stream/Task000"] > 0.6  # of four classes


def online(*, hidden=False, counted=False):
    """A stream of parts of ten examples, which say where tasks begin, unless that is hidden; as Avalanche's do not always call
    the last part so, `counted` leaves it to the number of parts."""

    class Hiding:
        def __getattr__(self, name):
            raise ValueError(f"Attribute {name} is not available for the experience in train mode.")

    for number, whole in enumerate(split().train_stream):
        for start in range(0, 40, 10):
            part = TensorDataset(*whole.dataset[start : start + 10])
            if hidden:
                one = Hiding()
                one.dataset = part
                one.train = lambda one=one: one
                yield one
            else:
                is_last = start == 30 and not counted
                yield experience(part, number, is_first_subexp=start == 0, is_last_subexp=is_last, sub_stream_length=4)


@pytest.mark.parametrize("counted", [False, True])
def test_the_parts_of_an_online_stream_are_one_task(counted):
    learner = strategy()
    learner.train(online(counted=counted))
    assert {name: sorted(classes) for name, classes in learner.classifier.task_classes_.items()} == {
        0: [0, 1],
        1: [2, 3],
    }
    assert not learner.classifier.learner_.learning
    assert learner.eval(split().test_stream)["Top1_Acc_Stream/eval_phase/test_stream/Task000"] > 0.9


def test_hidden_boundaries_are_found_or_cut_but_not_looked_up():
    with pytest.raises(UsageError, match="access_task_boundaries=True"):
        strategy().train(online(hidden=True))
    cutting = strategy(boundaries=40)
    cutting.train(online(hidden=True))
    assert len(cutting.classifier.tasks_) == 2


def test_task_labels_are_used_if_asked_for():
    x, y = images(0, 1)
    opposite = [TensorDataset(x.float() / 255, y), TensorDataset(x.float() / 255, 1 - y)]  # no task, no answer
    train = [experience(dataset, at, task_label=7 + at) for at, dataset in enumerate(opposite)]
    scores = {}
    for aware in (False, True):
        learner = AvalancheStrategy(merlin(scenario="domain-incremental"), task_aware=aware)
        learner.train(train)
        scores[aware] = learner.eval(train)
    assert list(scores[True])[-1] == "Top1_Acc_Stream/eval_phase/train_stream/Task008"
    assert min(scores[True].values()) > 0.8
    assert sum(scores[False].values()) < 0.7 * len(scores[False])
    with pytest.raises(UsageError, match="The task label 9 stands for 0 tasks"):
        learner.eval(experience(opposite[0], 2, task_label=9))


def test_inputs_that_are_no_bytes_are_not_made_bytes():
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        strategy(as_bytes=True).train(experience(TensorDataset(torch.randn(10, 3), torch.arange(10) % 2), 0))


def test_tasks_that_are_not_told_cannot_be_known():
    with pytest.raises(UsageError, match="task_aware needs tasks that are told"):
        strategy(boundaries="detected", task_aware=True)


def test_an_experience_is_learned_in_an_order_of_the_seeds():
    def learned(seed):
        learner = AvalancheStrategy(ContinualClassifier("single"), seed=seed)
        learner.train(split().train_stream)
        return learner.classifier.predict_proba(images(0, 1, 2, 3)[0].float() / 255)

    assert (learned(0) == learned(0)).all()
    assert (learned(0) != learned(1)).any()
