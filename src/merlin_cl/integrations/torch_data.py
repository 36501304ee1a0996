"""PyTorch's data sets and loaders as a stream, and the tasks of a stream as PyTorch's data sets."""

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from merlin_cl.errors import UsageError
from merlin_cl.inputs.arrays import Array
from merlin_cl.inputs.labels import name_of
from merlin_cl.streams.settings.user_data import OwnOptions
from merlin_cl.streams.stream import Stream, Task
from merlin_cl.streams.user_data.arrays import LabelledArrays, gathered
from merlin_cl.tensors import as_float

Source = Any
"""What gives (x, y) or (x, y, task): a data set or any iterable one by one, a loader in batches."""


def to_stream(
    train: Source | Sequence[Source],
    test: Source | Sequence[Source] | None = None,
    tasks: Any = None,
    *,
    standardise: bool = False,
    seed: int = 0,
    name: str = "torch",
    **options: Unpack[OwnOptions],
) -> Stream:
    """A list with a data set or loader for each task; or one for all, with `tasks` as `Stream.from_arrays` takes them or the task
    as third value of every example.

    `test` is made like `train`; beside a list, a single one will do for all tasks, each being scored on its own classes. Images
    as torchvision makes them of bytes (floats that are whole 255ths) are kept as bytes, which changes none of their values. The
    `options` are those of all own data (docs/own-data.md).
    """
    if isinstance(train, list | tuple):
        if tasks is not None:
            raise UsageError(
                "Every data set of the list is a task; leave `tasks` out, or give one data set for all tasks."
            )
        learned = gathered(_named(train))
        scored = None if test is None else _scored(test, train, learned)
        tasks = learned[2]
    else:
        learned = gathered(examples_of(train))
        scored = None if test is None else gathered(examples_of(_single(test)), "test example")
        if tasks is None:
            tasks = learned[2]
        elif scored is not None:
            scored = (*scored[:2], None)
    x, *test_x = _kept_as_bytes(learned[0], *([] if scored is None else [scored[0]]))
    ordered: OwnOptions = {"task_order": "as-met", **options}
    return Stream.from_arrays(
        x,
        learned[1],
        tasks,
        test=None if scored is None else (*test_x, *(part for part in scored[1:] if part is not None)),
        standardise=standardise,
        seed=seed,
        name=name,
        **ordered,
    )


class TaskDataset(Dataset[tuple[Tensor, int]]):
    """Examples as PyTorch's loaders want them: inputs as floats (of bytes, numbers from 0 to 1) and outputs of the head."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        """x uint8 or float [N, *input_shape], y int64 [N]."""
        self.x = x
        self.targets: list[int] = y.tolist()

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, at: int) -> tuple[Tensor, int]:
        return as_float(self.x[at]), self.targets[at]


def to_datasets(task: Task) -> tuple[TaskDataset, TaskDataset]:
    """What a task has to learn from, in the order of the stream's seed, and its test set.

    A task gives each training example once: it has none left afterwards, and this cannot be asked twice.
    """
    ((x, y),) = task.batches(task.train_count)
    return TaskDataset(x, y), TaskDataset(*task.test())


def examples_of(source: Source) -> Iterator[tuple[Any, ...]]:
    """One example after the other; the batches of a loader are taken apart."""
    if isinstance(source, DataLoader) and source.batch_sampler is not None:
        for batch in source:
            yield from zip(*batch, strict=True)
    elif hasattr(source, "__getitem__") and hasattr(source, "__len__") and not isinstance(source, IterableDataset):
        for at in range(len(source)):  # not every data set says by an IndexError where it ends
            yield source[at]
    else:
        yield from source


def _named(sources: Sequence[Source]) -> Iterator[tuple[Any, ...]]:
    """Examples with the task that their place in the list makes."""
    for number, source in enumerate(sources):
        for x, y, *_ in examples_of(source):
            yield x, y, _name(number)


def _name(number: int) -> str:
    return f"task {number}"


def _scored(test: Source | Sequence[Source], train: Sequence[Source], learned: LabelledArrays) -> LabelledArrays:
    """The test examples, each with its task."""
    tests = test if isinstance(test, list | tuple) else [test]
    if len(tests) == len(train):
        return gathered(_named(tests), "test example")
    if len(tests) > 1:
        raise UsageError(
            f"There are {len(train)} data sets to learn from but {len(tests)} to test on; give one for each task, or one for all."
        )
    x, y, _ = gathered(examples_of(tests[0]), "test example")
    brought: dict[str, set[str | None]] = {}
    for task, label in zip(learned[2], learned[1], strict=True):
        brought.setdefault(task, set()).add(name_of(label))
    labels = [name_of(label) for label in y]
    places = [(at, task) for task, own in brought.items() for at, label in enumerate(labels) if label in own]
    return x[[at for at, _ in places]], [labels[at] for at, _ in places], [task for _, task in places]


def _single(test: Source | Sequence[Source]) -> Source:
    if isinstance(test, list | tuple):
        raise UsageError(
            "There is one data set for all tasks to learn from, but a list to test on; give one there, too."
        )
    return test


def _kept_as_bytes(*arrays: Array) -> list[Array]:
    """Images [N, channels, height, width] in bytes, if all of them are whole 255ths; otherwise as they are."""
    as_bytes = []
    for x in arrays:
        if x.ndim != 4 or x.dtype.kind != "f" or x.min() < 0 or x.max() > 1:
            return list(arrays)
        whole = np.rint(x * 255).astype(np.uint8)
        if not np.array_equal(whole.astype(np.float32) / np.float32(255), x):
            return list(arrays)
        as_bytes.append(whole)
    return as_bytes
