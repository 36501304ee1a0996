"""What permuted and rotated MNIST share: every task shows all ten digits, each task in its own way."""

from collections.abc import Sequence
from pathlib import Path

from merlin_cl.protocol import TaskInfo
from merlin_cl.streams.benchmarks.sampling import TaskPlan, drawn_stream
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import MnistDomainSettings
from merlin_cl.streams.stream import Stream, Transform


def all_digits(
    settings: MnistDomainSettings, seed: int, data: str | Path | None, ways: Sequence[tuple[str, Transform]]
) -> Stream:
    """The stream with one task for each way of showing digits: its name and what it does to an image."""
    source = open_data_set("mnist", data)
    digits = {digit: digit for digit in range(10)}
    plans = [
        TaskPlan(TaskInfo(index, tuple(digits), name), source, digits, transform)
        for index, (name, transform) in enumerate(ways)
    ]
    return drawn_stream(settings, seed, plans, source.classes, data)
