"""Avalanche's benchmarks as streams, and streams as Avalanche's benchmarks."""

import importlib
from typing import Any, Unpack

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.integrations import torch_data
from merlin_cl.streams.settings.user_data import OwnOptions
from merlin_cl.streams.stream import Stream


def to_stream(benchmark: Any, *, seed: int = 0, name: str = "avalanche", **options: Unpack[OwnOptions]) -> Stream:
    """A task for every experience of the benchmark's train stream, scored on the experience of that number in its test stream.

    A test stream of a single experience serves all tasks. Inputs are taken through the transformations of each stream, once, as
    a single pass takes them. Experiences without a common class make a class-incremental stream, experiences with the same
    classes a domain-incremental one; where a label means something else in every experience, say
    `scenario="class-incremental"`.
    """
    parts = []
    for part in ("train_stream", "test_stream"):
        if not hasattr(benchmark, part):
            raise UsageError(f"A {type(benchmark).__name__} has no {part}; give a benchmark of Avalanche that has one.")
        parts.append([experience.dataset for experience in getattr(benchmark, part)])
    return torch_data.to_stream(*parts, seed=seed, name=name, **options)


def to_benchmark(stream: Stream, *, task_labels: bool = False) -> Any:
    """A benchmark with the streams `train` and `test`, whose experiences are the stream's tasks.

    Its labels are outputs of the head, its inputs floats (bytes become numbers from 0 to 1). `task_labels` tells strategies which
    task an example is of; otherwise the label of all is 0, as in Avalanche's own class-incremental benchmarks. All training
    examples are then given out: build the stream again to use it otherwise.
    """
    benchmarks, utils = (_imported(f"avalanche.benchmarks{part}") for part in ("", ".utils"))

    def labelled(number: int, dataset: torch_data.TaskDataset) -> Any:
        labels = utils.TaskLabels(utils.ConstantSequence(number if task_labels else 0, len(dataset)))
        return utils.as_classification_dataset(dataset).update_data_attribute("targets_task_labels", labels)

    pairs = [torch_data.to_datasets(task) for task in stream]
    train, test = ([labelled(number, pair[part]) for number, pair in enumerate(pairs)] for part in (0, 1))
    plain = benchmarks.benchmark_from_datasets(train=train, test=test)
    return benchmarks.with_classes_timeline(benchmarks.with_task_labels(plain))


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MerlinError(
            f"This needs Avalanche, which cannot be imported ({error}); install avalanche-lib."
        ) from error
