"""Arrays and tensors as a stream: labels of any kind, tasks said in three ways, every example once."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.errors import InputError, UsageError
from merlin_cl.streams.stream import ExampleTakenTwiceError, Stream

LABELS = np.array(["bird", "cat", "dog", "eel"])


def numbered(count=80, classes=LABELS):
    """Inputs that can be told apart, in float; the label of example i is classes[i % 4]."""
    return np.arange(count, dtype=np.float32)[:, None] + 0.5, classes[np.arange(count) % len(classes)]


def arrived(task):
    return sorted(float(one) for x, _ in task.batches(7) for one in x)


def scored(task):
    return sorted(float(one) for one in task.test()[0])


def test_labels_of_any_kind_become_outputs_in_order():
    for classes in (LABELS, np.array([10, 20, 30, 7]), np.array([3.0, -1.0, 10.0, 2.0])):
        x, y = numbered(classes=classes)
        stream = Stream.from_arrays(x, y, tasks=2)
        names = [str(int(one)) if classes.dtype.kind != "U" else str(one) for one in sorted(classes)]
        assert stream.class_names == tuple(names)
        assert [task.info.classes for task in stream] == [(0, 1), (2, 3)]
        assert stream[0].info.name == f"{names[0]} and {names[1]}"
        for task in stream:
            for x, y in task.batches(5):
                for value, output in zip(x, y, strict=True):
                    label = classes[int(value) % 4]
                    assert stream.class_names[int(output)] == (label if classes.dtype.kind == "U" else str(int(label)))


def test_tensors_and_arrays_and_lists_give_the_same_stream():
    x, y = numbered(classes=np.array([5, 6, 7, 8]))
    streams = [
        Stream.from_arrays(x, y, tasks=2),
        Stream.from_arrays(torch.from_numpy(x), torch.from_numpy(y), tasks=2),
        Stream.from_arrays(x.tolist(), y.tolist(), tasks=2),
    ]
    assert len({stream.fingerprint for stream in streams}) == 1
    assert len({tuple(arrived(stream[0])) for stream in streams}) == 1


@settings(deadline=None)
@given(fraction=st.floats(0.05, 0.85), seed=st.integers(0, 99), tasks=st.integers(1, 4), held_out=st.booleans())
def test_every_example_is_learned_once_or_scored(fraction, seed, tasks, held_out):
    x, y = numbered()
    options = {"test_fraction": fraction, "evaluation": "held-out" if held_out else "test"}
    stream = Stream.from_arrays(x, y, tasks=tasks, seed=seed, **options)
    learned = [value for task in stream for value in arrived(task)]
    tested = [value for task in stream for value in scored(task)]
    assert len(set(learned)) == len(learned)
    assert not set(learned) & set(tested)
    whole = Stream.from_arrays(x, y, tasks=tasks, seed=seed, test_fraction=fraction)
    test_part = {value for task in whole for value in scored(task)}
    assert set(learned) | set(tested) | test_part == set(x.flatten().tolist())
    if held_out:  # what is held out was never in the test part
        assert not set(tested) & test_part
    with pytest.raises(ExampleTakenTwiceError):
        stream[0].batches(1)


def test_the_test_part_is_the_same_for_every_seed_and_a_fraction_of_each_class():
    x, y = numbered(100)
    parts = [[scored(task) for task in Stream.from_arrays(x, y, 2, seed=seed, test_fraction=0.4)] for seed in (0, 1)]
    assert parts[0] == parts[1]
    assert all(sum(int(value) % 4 == label for value in parts[0][label // 2]) == 10 for label in range(4))
    assert [scored(task) for task in Stream.from_arrays(x, y, 2, test_fraction=0.4, split_seed=1)] != parts[0]
    orders = [[float(one) for one, _ in Stream.from_arrays(x, y, 2, seed=seed)[0].batches(1)] for seed in (0, 1)]
    assert orders[0] != orders[1]


def test_tasks_as_lists_of_classes_leave_other_classes_out():
    x, y = numbered()
    stream = Stream.from_arrays(x, y, tasks=[["eel", "bird"], ["cat"]])
    assert stream.class_names == ("eel", "bird", "cat")
    assert {int(value) % 4 for task in stream for value in arrived(task)} == {0, 1, 3}
    assert stream.info.classes == 3


def test_classes_are_shared_out_evenly_in_the_order_asked_for():
    x, y = numbered(classes=np.arange(10))
    assert [len(task.info.classes) for task in Stream.from_arrays(x, y, tasks=3)] == [4, 3, 3]
    orders = {Stream.from_arrays(x, y, 5, class_order="shuffled", seed=seed).class_names for seed in range(4)}
    assert len(orders) > 1
    assert Stream.from_arrays(x, y, 2, class_order="9,8,7,6").class_names == ("9", "8", "7", "6")
    shuffled = [Stream.from_arrays(x, y, 5, class_order="shuffled", seed=seed).fingerprint for seed in (0, 1)]
    assert shuffled[0] == shuffled[1]  # the same data


def test_a_task_for_each_example():
    x, y = numbered()
    sites = np.where(np.arange(80) < 40, "north", "south")
    stream = Stream.from_arrays(x, y, tasks=sites)
    assert stream.info.domain_incremental
    assert [task.info.name for task in stream] == ["north", "south"]
    assert [task.info.classes for task in stream] == [(0, 1, 2, 3)] * 2
    assert max(arrived(stream[0])) < 40 < min(arrived(stream[1]))
    assert max(scored(stream[0])) < 40 < min(scored(stream[1]))
    by_class = Stream.from_arrays(x, y, tasks=np.arange(80) % 4 // 2)
    assert not by_class.info.domain_incremental
    assert [task.info.classes for task in by_class] == [(0, 1), (2, 3)]


def test_tasks_that_share_some_classes_must_be_explained():
    x, y = numbered()
    sites = np.where((np.arange(80) < 40) | (y == "eel"), "north", "south")
    with pytest.raises(InputError, match="'bird' is in task 'north' and in task 'south'"):
        Stream.from_arrays(x, y, tasks=sites)
    domains = Stream.from_arrays(x, y, tasks=sites, scenario="domain-incremental")
    assert (domains.info.classes, domains.info.domain_incremental) == (4, True)
    assert [task.info.classes for task in domains] == [(0, 1, 2, 3), (0, 1, 2)]
    apart = Stream.from_arrays(x, y, tasks=sites, scenario="class-incremental")
    assert (apart.info.classes, apart.info.domain_incremental) == (7, False)
    assert apart.class_names[4] == "south: bird"


def test_a_test_part_of_ones_own():
    x, y = numbered()
    other, labels = numbered(8)
    stream = Stream.from_arrays(x, y, 2, test=(other + 1000, labels))
    assert sum(task.train_count for task in stream) == 80
    assert scored(stream[0]) == [1000.5, 1001.5, 1004.5, 1005.5]
    held_out = Stream.from_arrays(x, y, 2, test=(other + 1000, labels), evaluation="held-out")
    assert max(value for task in held_out for value in scored(task)) < 1000
    sites = np.arange(80) % 8 // 4
    domains = Stream.from_arrays(x, y, sites, test=(other + 1000, labels, np.arange(8) // 4))
    assert scored(domains[1]) == [1004.5, 1005.5, 1006.5, 1007.5]
    with pytest.raises(InputError, match="the test examples do not"):
        Stream.from_arrays(x, y, sites, test=(other, labels))
    with pytest.raises(InputError, match="Test example 3 of arrays, for testing, is of class 'fox'"):
        Stream.from_arrays(x, y, 2, test=(other, np.where(labels == "eel", "fox", labels)))
    with pytest.raises(InputError, match="no examples of class 'eel'"):
        Stream.from_arrays(x, y, 2, test=(other[:3], labels[:3]))


@pytest.mark.parametrize(
    ("shape", "kind", "expected"),
    [
        ((28, 28), np.uint8, (1, 28, 28)),
        ((9, 9, 3), np.uint8, (3, 9, 9)),
        ((3, 9, 9), np.float32, (3, 9, 9)),
        ((28, 28), np.float64, (28, 28)),
        ((5,), np.int64, (5,)),
        ((5,), bool, (5,)),
    ],
)
def test_shapes_and_types(shape, kind, expected):
    x = (100 * np.random.default_rng(0).random((12, *shape))).astype(kind)
    stream = Stream.from_arrays(x, np.arange(12) % 2, 1)
    assert stream.info.input_shape == expected
    given, _ = stream[0].test()
    assert given.dtype == (torch.uint8 if kind == np.uint8 else torch.float32)
    if expected[0] == 3 and shape[-1] == 3:  # channels moved to the front, not mixed up
        assert any(torch.equal(given[0], torch.from_numpy(one).permute(2, 0, 1)) for one in x)


def test_standardisation_sees_the_training_part_of_the_first_task_alone():
    x, y = np.random.default_rng(0).normal(5, 3, (200, 2)).astype(np.float32), np.arange(200) % 4
    x[:, 1] = 7  # says nothing in the first task
    stream = Stream.from_arrays(x, y, 2, standardise=True)
    first = torch.cat([batch for batch, _ in stream[0].batches(10)])
    assert first[:, 0].mean().abs() < 1e-5
    assert first[:, 0].std(correction=0) == pytest.approx(1, abs=1e-4)
    assert (first[:, 1] == 0).all()
    later = x.copy()
    later[np.isin(y, [2, 3])] *= 1000
    changed = Stream.from_arrays(later, y, 2, standardise=True)
    assert torch.cat([batch for batch, _ in changed[0].batches(10)]).equal(first)
    assert changed[1].test()[0].abs().max() == 10


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"tasks": None}, UsageError, "Nothing says how the 4 classes of arrays come in tasks"),
        ({"tasks": 5}, UsageError, "tasks is 5, but arrays has 4 classes"),
        ({"tasks": 0}, UsageError, "tasks is 0"),
        ({"tasks": [["bird"], []]}, UsageError, "Task 1 has no classes"),
        ({"tasks": [["bird", "cta"]]}, UsageError, "did you mean 'cat'"),
        ({"tasks": [["bird", "cat"], ["cat", "dog"]]}, UsageError, "'cat' is in task 0 and again in task 1"),
        ({"tasks": [1, 2, 3]}, InputError, "80 labels but 3 tasks"),
        ({"tasks": [None] * 80}, InputError, "Example 0 of arrays has no task"),
        ({"y": np.array(["bird"] * 80)}, InputError, "All 80 examples of arrays are of one class, 'bird'"),
        ({"y": np.array(["bird", "cat"] * 39 + ["dog", "cat"])}, InputError, "Class 'dog' has a single example"),
        ({"y": [None, *LABELS[:3]] * 20}, InputError, "Example 0 of arrays has no label"),
        ({"y": LABELS}, InputError, "80 inputs but 4 labels"),
        ({"y": np.zeros((80, 2))}, InputError, "shape"),
        ({"x": np.zeros(80)}, InputError, "one dimension at least"),
        ({"x": np.array([["a"]] * 80)}, InputError, "give numbers"),
        ({"x": np.where(np.arange(80) == 33, np.nan, 0.0)[:, None]}, InputError, "Example 33 of arrays contains NaN"),
        ({"x": np.zeros((0, 3)), "y": []}, InputError, "no examples"),
        ({"scenario": "both"}, UsageError, "Unknown scenario 'both'"),
        ({"test_fraction": 1.0}, UsageError, "test_fraction is 1.0"),
        ({"test": (np.zeros((2, 3)), ["bird", "cat"])}, InputError, "Test inputs have shape"),
    ],
)
def test_bad_input_is_named(change, error, sentence):
    x, y = numbered()
    arguments = {"x": x, "y": y, "tasks": 2} | change
    with pytest.raises(error, match=sentence):
        Stream.from_arrays(**arguments)


def test_iterables_bring_tasks_as_they_are_met():
    def examples():
        for number in range(60):
            yield torch.full((2,), float(number)), "ab"[number % 2], ["second", "first"][number // 30]

    stream = Stream.from_iterable(examples())
    assert [task.info.name for task in stream] == ["second", "first"]
    assert stream.info.domain_incremental
    assert stream.class_names == ("a", "b")
    by_class = Stream.from_iterable([([float(n)], n % 4) for n in range(40)], tasks=2)
    assert [task.info.classes for task in by_class] == [(0, 1), (2, 3)]
    for wrong, sentence in (
        ([], "gave no examples"),
        ([1], "Example 0 is not"),
        ([([1], 2), ([1, 2], 3)], r"Example 1 has shape \[2\]|input of example 1 has shape \[2\]"),
        ([([1], 2, 3), ([1], 2)], "Example 1 is not made as those before it"),
        ([("x", 2)], "input of example 0 is not an array of numbers"),
    ):
        with pytest.raises(InputError, match=sentence):
            Stream.from_iterable(wrong, tasks=1)
