"""PyTorch's data sets and loaders to streams, and back."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.utils.data import ConcatDataset, DataLoader, IterableDataset, TensorDataset

from merlin_cl.errors import InputError, UsageError
from merlin_cl.integrations.torch_data import to_datasets, to_stream
from merlin_cl.streams.stream import ExampleTakenTwiceError, Stream

from .small import floats, images, small_stream


def contents(stream):
    """All that a stream has: information, and the examples of every task in an order of their own."""

    def sorted_pairs(batches):
        return sorted(
            (int(label), image.flatten().tolist()) for x, y in batches for image, label in zip(x, y, strict=True)
        )

    return [(task.info.classes, sorted_pairs(task.batches(7)), sorted_pairs([task.test()])) for task in stream]


@settings(max_examples=15, deadline=None)
@given(sizes=st.lists(st.integers(4, 12), min_size=2, max_size=4), batch=st.integers(1, 9), seed=st.integers(0, 9))
def test_a_list_of_data_sets_or_loaders_is_a_list_of_tasks(sizes, batch, seed):
    groups = [(2 * at, 2 * at + 1) for at in range(len(sizes))]
    train = [floats(*group, count=size, seed=seed) for group, size in zip(groups, sizes, strict=True)]
    test = [floats(*group, count=4, seed=seed + 1) for group in groups]
    stream = to_stream(train, test)
    assert [task.info.classes for task in stream] == groups
    assert [(task.train_count, task.test_count) for task in stream] == [(size, 4) for size in sizes]
    loaders = [[DataLoader(dataset, batch) for dataset in datasets] for datasets in (train, test)]
    assert contents(to_stream(*loaders)) == contents(stream)


def test_images_made_of_bytes_are_bytes_again():
    x, y = images(0, 1, 2, 3)
    stream = to_stream(TensorDataset(x.float() / 255, y), tasks=2)
    assert stream[0].test()[0].dtype == torch.uint8
    assert contents(stream) == contents(Stream.from_arrays(x, y, tasks=2))
    normalised = to_stream(TensorDataset(x.float() / 255 - 0.5, y), tasks=2)
    assert normalised[0].test()[0].dtype == torch.float32


def test_all_images_are_bytes_or_none():
    """Learned from as bytes but asked as floats, the same image would be another."""
    interpolated = TensorDataset(torch.full((4, 1, 4, 5), 0.3), torch.tensor([0, 1, 0, 1]))
    stream = to_stream([floats(0, 1)], [interpolated])
    ((x, _),) = stream[0].batches(100)
    assert x.dtype == stream[0].test()[0].dtype == torch.float32


def test_one_data_set_for_all_tasks():
    whole = floats(0, 1, 2, 3)
    assert [task.info.classes for task in to_stream(whole, tasks=[[3, 0], [1, 2]])] == [(0, 1), (2, 3)]
    x, y = images(0, 1)
    sites = torch.arange(40) // 20
    by_site = to_stream(TensorDataset(x, y, sites), test=TensorDataset(x, y, sites))
    assert by_site.info.domain_incremental
    assert [(task.train_count, task.test_count) for task in by_site] == [(20, 20)] * 2
    by_class = to_stream(TensorDataset(x, y, sites), tasks=2)  # what is said goes before what the data say
    assert not by_class.info.domain_incremental


class Drawn(IterableDataset):
    """Examples that come one after the other, of which nobody knows how many there are."""

    def __iter__(self):
        for x, y in zip(*images(0, 1, 2, 3), strict=True):
            yield Image.fromarray(x[0].numpy()), int(y)


def test_data_sets_without_a_length_and_pictures_without_a_transformation():
    stream = to_stream(Drawn(), tasks=2)
    assert stream.info.input_shape == (1, 4, 5)
    assert contents(stream) == contents(Stream.from_arrays(*images(0, 1, 2, 3), tasks=2))


def test_data_sets_of_data_sets():
    both = ConcatDataset([floats(0, 1), floats(2, 3, seed=1)])
    assert len(to_stream(both, tasks=2)) == 2


def test_one_test_set_serves_all_tasks_each_with_its_classes():
    test = floats(0, 1, 2, 3, count=20, seed=5)
    new_classes = to_stream([floats(0, 1), floats(2, 3)], test)
    assert [sorted(set(task.test()[1].tolist())) for task in new_classes] == [[0, 1], [2, 3]]
    assert [task.test_count for task in new_classes] == [10, 10]
    new_domains = to_stream([floats(0, 1, 2, 3), floats(0, 1, 2, 3, seed=1)], [test])
    assert [task.test_count for task in new_domains] == [20, 20]


def test_what_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="3 data sets to learn from but 2 to test on"):
        to_stream([floats(0, 1), floats(2, 3), floats(4, 5)], [floats(0, 1), floats(2, 3)])
    with pytest.raises(UsageError, match="leave `tasks` out"):
        to_stream([floats(0, 1), floats(2, 3)], tasks=2)
    with pytest.raises(UsageError, match="a list to test on"):
        to_stream(floats(0, 1, 2, 3), [floats(0, 1), floats(2, 3)], tasks=2)
    with pytest.raises(InputError, match=r"Example 40 .* shape|example 40 has shape"):
        to_stream([floats(0, 1), TensorDataset(torch.zeros(4, 1, 6, 6), torch.tensor([2, 3, 2, 3]))])
    with pytest.raises(InputError, match="share some classes but not all"):
        to_stream([floats(0, 1), floats(1, 2)])


def test_the_tasks_of_a_stream_are_data_sets():
    pairs = [to_datasets(task) for task in small_stream((0, 1), (2, 3))]
    loaded = [
        [torch.cat(parts) for parts in zip(*DataLoader(dataset, 6), strict=True)] for pair in pairs for dataset in pair
    ]
    assert [len(y) for _, y in loaded] == [40, 10, 40, 10]
    assert all(x.dtype == torch.float32 and x.max() <= 1 for x, _ in loaded)
    assert [sorted(set(dataset.targets)) for dataset, _ in pairs] == [[0, 1], [2, 3]]
    again = to_stream(*zip(*pairs, strict=True))
    assert contents(again) == contents(small_stream((0, 1), (2, 3)))


def test_training_examples_are_given_out_once():
    task = small_stream((0, 1), (2, 3))[0]
    to_datasets(task)
    with pytest.raises(ExampleTakenTwiceError):
        to_datasets(task)


def test_the_order_is_that_of_the_seed():
    first, second, other = (to_datasets(small_stream((0, 1), (2, 3), seed=0)[0])[0] for _ in range(3))
    assert first.targets == second.targets == other.targets
    assert not np.array_equal(first.targets, sorted(first.targets))
