"""Split MNIST: the ten digits arrive two a task, 0 and 1 first."""

from pathlib import Path

from merlin_cl.protocol import TaskInfo
from merlin_cl.streams.mnist import mnist_stream
from merlin_cl.streams.settings import SplitMnistSettings
from merlin_cl.streams.stream import Stream


def build(settings: SplitMnistSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    pairs = [(2 * index, 2 * index + 1) for index in range(settings.tasks)]
    infos = [TaskInfo(index, pair, f"digits {pair[0]} and {pair[1]}") for index, pair in enumerate(pairs)]
    return mnist_stream(settings, seed, data, infos, lambda index: None)
