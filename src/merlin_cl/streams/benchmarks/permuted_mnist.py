"""Permuted MNIST: every task shows all ten digits with their pixels in a random order of its own, the first task too."""

from pathlib import Path

import torch
from torch import Tensor

from merlin_cl.randomness import generator
from merlin_cl.streams.benchmarks.mnist_domains import all_digits
from merlin_cl.streams.settings import PermutedMnistSettings
from merlin_cl.streams.stream import Stream, Transform


def build(settings: PermutedMnistSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    return all_digits(
        settings, seed, data, [(f"permutation {index}", permutation(seed, index)) for index in range(settings.tasks)]
    )


def permutation(seed: int, index: int) -> Transform:
    """What task `index` does to its images: pixel i of the result is pixel order[i] of the image."""
    order = torch.randperm(28 * 28, generator=generator(seed, PermutedMnistSettings.stream, "permutation", index))

    def permute(x: Tensor) -> Tensor:
        return x.flatten(1).index_select(1, order).reshape(x.shape)

    return permute
