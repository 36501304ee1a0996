"""Scenarios of continuum to streams: with lists of data sets, which they are to us, and with the real thing."""

import numpy as np
import pytest
import torch

from merlin_cl.integrations.continuum import to_stream

from .small import floats, images

pytestmark = pytest.mark.usefixtures("their_warnings")


def test_task_sets_are_tasks():
    stream = to_stream(iter([floats(0, 1), floats(2, 3)]))
    assert [(task.info.classes, task.train_count, task.test_count) for task in stream] == [
        ((0, 1), 32, 8),
        ((2, 3), 32, 8),
    ]
    assert stream.info.name == "continuum"


def in_memory(library, *classes, count=40, seed=0, train=True):
    x, y = images(*classes, count=count, seed=seed)
    return library.datasets.InMemoryDataset(x[:, 0].numpy(), y.numpy(), train=train)


def test_new_classes(continuum_library):
    parts = [in_memory(continuum_library, 0, 1, 2, 3, count=count, train=count > 20) for count in (40, 20)]
    train, test = (continuum_library.ClassIncremental(part, increment=2) for part in parts)
    stream = to_stream(train, test)
    assert stream.info.input_shape == (1, 4, 5)
    assert [(task.info.classes, task.train_count, task.test_count) for task in stream] == [
        ((0, 1), 20, 10),
        ((2, 3), 20, 10),
    ]
    x, y = stream[0].test()
    assert x.dtype == torch.uint8
    given_x, given_y = images(0, 1, 2, 3, count=20)
    assert sorted(map(str, x.tolist())) == sorted(map(str, given_x[given_y < 2].tolist()))
    assert sorted(y.tolist()) == sorted(given_y[given_y < 2].tolist())


def test_new_domains(continuum_library):
    data = in_memory(continuum_library, 0, 1, 2, 3)
    stream = to_stream(*(continuum_library.Permutations(data, nb_tasks=3, seed=0) for _ in ("train", "test")))
    assert stream.info.domain_incremental
    assert len(stream) == 3
    sums = [np.sort(stream[at].test()[0].flatten(1).sum(dim=1).numpy()) for at in range(3)]
    assert all((one == sums[0]).all() for one in sums)  # the same pixels in another order
    assert not torch.equal(stream[0].test()[0], stream[1].test()[0])
