"""Every training example arrives exactly once, whatever the batch size, and nothing gives it out again."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.errors import InputError, UsageError
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.streams.stream import ExampleTakenTwiceError, Pool, Selection, Stream, Task

POOL = Pool(torch.arange(200, dtype=torch.uint8).reshape(200, 1, 1, 1), torch.arange(200) % 10)


def task(drawn=range(200), index=0, seed=0, transform=None, classes=range(10)):
    at = torch.tensor(list(drawn), dtype=torch.int64)
    info = TaskInfo(index, tuple(classes))
    return Task(
        info, Selection(POOL, at, transform), Selection(POOL, at, transform), torch.Generator().manual_seed(seed)
    )


@given(
    drawn=st.sets(st.integers(0, 199), min_size=1),
    size=st.integers(1, 250),
    seed=st.integers(0, 2**32),
)
def test_each_example_arrives_once(drawn, size, seed):
    one = task(drawn, seed=seed)
    batches = list(one.batches(size))
    assert sorted(int(image) for x, _ in batches for image in x) == sorted(drawn)
    assert all((x.flatten() % 10 == y).all() for x, y in batches)  # each with its own label
    assert [len(y) for _, y in batches[:-1]] == [size] * (len(batches) - 1)
    assert one.train_count == len(drawn)


@given(first=st.integers(1, 250), second=st.integers(1, 250))
def test_order_does_not_depend_on_batch_size(first, second):
    arrived = [torch.cat([x for x, _ in task().batches(size)]) for size in (first, second)]
    assert arrived[0].equal(arrived[1])


def test_order_is_shuffled_by_the_generator():
    arrived = [torch.cat([x for x, _ in task(seed=seed).batches(10)]) for seed in (0, 1)]
    assert not arrived[0].equal(arrived[1])
    assert not arrived[0].equal(POOL.x)


@given(st.integers(0, 20))
def test_second_take_is_an_error(consumed):
    one = task()
    batches = one.batches(10)
    for _ in range(consumed):
        next(batches)
    with pytest.raises(ExampleTakenTwiceError, match="task 0"):
        one.batches(10)
    assert sum(1 for _ in batches) == 20 - consumed  # the first iterator goes on undisturbed


@given(st.integers(max_value=0))
def test_batch_size_below_one_is_refused_and_takes_nothing(size):
    one = task()
    with pytest.raises(UsageError, match=str(size)):
        one.batches(size)
    assert sum(len(y) for _, y in one.batches(10)) == 200


def test_batches_are_copies():
    """A learner that writes into its inputs or keeps a few of them neither changes nor holds on to the pool."""
    x, _ = next(task().batches(10))
    before = POOL.x.clone()
    x += 1
    assert POOL.x.equal(before)
    assert x.untyped_storage().nbytes() == 10


def test_test_set_can_be_asked_for_often_and_is_transformed_when_asked():
    calls = []

    def invert(x):
        calls.append(len(x))
        return 255 - x

    one = task(transform=invert)
    assert calls == []
    assert one.test()[0].equal(255 - POOL.x)
    assert one.test()[0].equal(one.test()[0])
    assert calls == [200, 200, 200]


def test_stream_is_a_sequence_of_its_tasks():
    tasks = [task(index=0), task(index=1)]
    stream = Stream(StreamInfo("two", (1, 1, 1), 10, 2, domain_incremental=True), tasks, "memory", ["a", "b"])
    assert len(stream) == 2
    assert list(stream) == tasks
    assert stream[1] is tasks[1]
    assert stream[-1] is tasks[1]
    assert stream.source == "memory"
    assert stream.class_names == ("a", "b")
    with pytest.raises(IndexError):
        stream[2]


@pytest.mark.parametrize("indices", [[0], [1, 0], [0, 0], [0, 1, 2]])
def test_stream_wants_every_task_once_and_in_order(indices):
    with pytest.raises(UsageError, match="two announces 2 tasks"):
        Stream(StreamInfo("two", (1, 1, 1), 10, 2), [task(index=index) for index in indices])


def test_an_empty_task_is_named():
    with pytest.raises(InputError, match="Task 1 of two has no training examples"):
        Stream(StreamInfo("two", (1, 1, 1), 10, 2, domain_incremental=True), [task(), task([], index=1)])


def test_classes_repeated_across_tasks_are_named_unless_the_domain_changes():
    tasks = [task(classes=[0, 1]), task(index=1, classes=[2, 1])]
    with pytest.raises(InputError, match="Class 1 of two is in task 0 and again in task 1"):
        Stream(StreamInfo("two", (1, 1, 1), 10, 2), tasks)
    Stream(StreamInfo("two", (1, 1, 1), 10, 2, domain_incremental=True), tasks)


@pytest.mark.parametrize("label", [-1, 10])
def test_classes_beyond_the_head_are_named(label):
    with pytest.raises(
        InputError, match=f"Task 0 of one has class {label}, but classes are 0 to 9; number them from zero"
    ):
        Stream(StreamInfo("one", (1, 1, 1), 10, 1), [task(classes=[0, label])])
