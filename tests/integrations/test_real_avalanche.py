"""The doors to Avalanche with Avalanche itself."""

import pytest
import torch
from torch import nn

from estimator.small import merlin
from merlin_cl import ContinualClassifier
from merlin_cl.errors import UsageError
from merlin_cl.integrations.avalanche import to_benchmark, to_stream
from merlin_cl.integrations.avalanche_strategy import AvalancheStrategy

from .small import floats, small_stream
from .test_torch_data import contents

pytestmark = pytest.mark.usefixtures("avalanche_library", "their_warnings")
GROUPS = (0, 1), (2, 3), (4, 5)
STREAM_ACCURACY = "Top1_Acc_Stream/eval_phase/test_stream/Task000"


@pytest.fixture(scope="module")
def benchmarks(avalanche_library):
    return avalanche_library.benchmarks


def test_a_stream_goes_there_and_back():
    assert contents(to_stream(to_benchmark(small_stream(*GROUPS)))) == contents(small_stream(*GROUPS))


@pytest.mark.parametrize("task_labels", [False, True])
def test_experiences_say_what_avalanche_s_own_say(task_labels):
    made = to_benchmark(small_stream(*GROUPS), task_labels=task_labels)
    for stream, count in ((made.train_stream, 40), (made.test_stream, 10)):
        assert [experience.classes_in_this_experience for experience in stream] == [set(group) for group in GROUPS]
        assert [experience.task_label for experience in stream] == ([0, 1, 2] if task_labels else [0, 0, 0])
        assert [experience.current_experience for experience in stream] == [0, 1, 2]
        assert all(len(experience.dataset) == count for experience in stream)
    assert made.train_stream[1].previous_classes == {0, 1}
    x, y, label = made.train_stream[2].dataset[0]
    assert (x.shape, x.dtype, y in GROUPS[2], label) == ((1, 4, 5), torch.float32, True, 2 if task_labels else 0)


def test_their_strategies_learn_our_streams(avalanche_library):
    made = to_benchmark(small_stream((0, 1, 2), (3, 4, 5)))
    model = nn.Sequential(nn.Flatten(), nn.Linear(20, 6))
    replay = avalanche_library.training.supervised.Replay(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        criterion=nn.CrossEntropyLoss(),
        mem_size=40,
        train_mb_size=10,
        train_epochs=10,
        evaluator=avalanche_library.training.plugins.EvaluationPlugin(
            avalanche_library.evaluation.metrics.accuracy_metrics(experience=True, stream=True)
        ),
    )
    replay.train(made.train_stream)
    theirs = replay.eval(made.test_stream)
    assert theirs[STREAM_ACCURACY] > 0.8

    ours = AvalancheStrategy(ContinualClassifier("slda"))
    ours.train(made.train_stream)
    scores = ours.eval(made.test_stream)
    assert scores[STREAM_ACCURACY] > 0.8
    assert scores.keys() <= theirs.keys()  # by the same names


def test_class_incremental_benchmarks(benchmarks):
    parts = {"train": floats(0, 1, 2, 3), "test": floats(0, 1, 2, 3, count=20)}
    for dataset in parts.values():
        dataset.targets = dataset.tensors[1].tolist()
    made = benchmarks.class_incremental_benchmark(
        {name: benchmarks.utils.as_classification_dataset(dataset) for name, dataset in parts.items()},
        class_order=[3, 1, 0, 2],
        num_experiences=2,
    )
    stream = to_stream(made)
    assert stream.class_names == ("1", "3", "0", "2")
    assert [(task.train_count, task.test_count) for task in stream] == [(20, 10)] * 2
    with_labels = to_stream(benchmarks.task_incremental_benchmark(made))
    assert contents(with_labels) == contents(to_stream(made))
    learner = AvalancheStrategy(merlin())
    learner.train(made.train_stream)
    assert learner.eval(made.test_stream)[STREAM_ACCURACY] > 0.6


def test_new_instances_share_one_test_experience(benchmarks):
    train, test = floats(0, 1, count=40), floats(0, 1, count=20)
    for dataset in (train, test):
        dataset.targets = dataset.tensors[1].tolist()
    train, test = map(benchmarks.utils.as_classification_dataset, (train, test))
    stream = to_stream(benchmarks.new_instances_benchmark(train, test, num_experiences=2, balance_experiences=True))
    assert stream.info.domain_incremental
    assert [(task.train_count, task.test_count) for task in stream] == [(20, 20)] * 2


@pytest.mark.parametrize("size", [10, 15])
def test_online_streams(benchmarks, size):
    made = to_benchmark(small_stream(*GROUPS))
    learner = AvalancheStrategy(ContinualClassifier("slda"))
    learner.train(benchmarks.split_online_stream(made.train_stream, size, access_task_boundaries=True))
    assert len(learner.classifier.tasks_) == 3
    assert not learner.classifier.learner_.learning
    assert learner.eval(made.test_stream)[STREAM_ACCURACY] > 0.8


def test_online_streams_keep_their_secrets(benchmarks):
    made = to_benchmark(small_stream(*GROUPS))
    hidden = benchmarks.split_online_stream(made.train_stream, 10)
    with pytest.raises(UsageError, match="hides where its tasks begin"):
        AvalancheStrategy(ContinualClassifier("slda")).train(hidden)
    cutting = AvalancheStrategy(ContinualClassifier("slda", boundaries=40))
    cutting.train(hidden)
    assert len(cutting.classifier.tasks_) == 3


def test_task_labels_choose_the_task():
    made = to_benchmark(small_stream(*GROUPS), task_labels=True)
    learner = AvalancheStrategy(ContinualClassifier("slda"), task_aware=True)
    learner.train(made.train_stream)
    scores = learner.eval(made.test_stream)
    assert [name for name in scores if "Stream" in name] == [
        f"Top1_Acc_Stream/eval_phase/test_stream/Task00{at}" for at in range(3)
    ]
    assert min(scores.values()) > 0.8
