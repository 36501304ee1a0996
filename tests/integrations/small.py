"""Small data in the forms that the neighbours have."""

from types import SimpleNamespace

import numpy as np
import torch
from torch.utils.data import TensorDataset

from merlin_cl.streams.stream import Stream


def images(*classes, count=40, seed=0):
    """Bytes [count, 1, 4, 5] that their class shines through, and labels, which come in turn."""
    draws = np.random.default_rng(seed)
    y = np.resize(np.array(classes), count)
    x = draws.integers(0, 60, (count, 1, 4, 5))
    x.reshape(count, 20)[np.arange(count), y] += 190
    return torch.from_numpy(x.astype(np.uint8)), torch.from_numpy(y)


def floats(*classes, count=40, seed=0):
    """The same as torchvision has them: floats from 0 to 1."""
    x, y = images(*classes, count=count, seed=seed)
    return TensorDataset(x.float() / 255, y)


def small_stream(*groups, seed=0):
    """A stream of a task for each group of classes, with test sets of their own."""
    parts = [images(*group, count=40, seed=seed + at) for at, group in enumerate(groups)]
    tests = [images(*group, count=10, seed=100 + seed + at) for at, group in enumerate(groups)]
    joined = [[torch.cat(values) for values in zip(*some, strict=True)] for some in (parts, tests)]
    tasks = [np.repeat([f"t{at}" for at in range(len(groups))], count) for count in (40, 10)]
    (x, y), (x_test, y_test) = joined
    return Stream.from_arrays(x, y, tasks=tasks[0], test=(x_test, y_test, tasks[1]), seed=seed)


def experience(dataset, number, stream="train", **attributes):
    """What Avalanche calls so, as far as it is looked at."""
    return SimpleNamespace(
        dataset=dataset, current_experience=number, origin_stream=SimpleNamespace(name=stream), **attributes
    )


def benchmark(train, test, **attributes):
    """What Avalanche calls so, of data sets."""
    streams = {"train": train, "test": test}
    made = {
        f"{name}_stream": [experience(dataset, at, name, **attributes) for at, dataset in enumerate(datasets)]
        for name, datasets in streams.items()
    }
    return SimpleNamespace(**made)
