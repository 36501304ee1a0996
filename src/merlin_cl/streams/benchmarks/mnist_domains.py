"""Permuted and rotated MNIST: every task shows all ten digits, each task in its own way.

Permuted: pixels in a random order, the first task's too. Rotated: turned further than in the task before.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from merlin_cl.protocol import TaskInfo
from merlin_cl.randomness import generator
from merlin_cl.streams.benchmarks.sampling import TaskPlan, drawn_stream
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import MnistDomainSettings, PermutedMnistSettings, RotatedMnistSettings
from merlin_cl.streams.stream import Stream, Transform

BLOCK = 500
"""Images turned at once: bounds the memory that their pixels take as floating-point numbers."""


def permuted(settings: PermutedMnistSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    return _stream(
        settings, seed, data, [(f"permutation {index}", permutation(seed, index)) for index in range(settings.tasks)]
    )


def rotated(settings: RotatedMnistSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    angles = [index * settings.degrees_per_task for index in range(settings.tasks)]
    return _stream(settings, seed, data, [(f"{angle:g} degrees", rotation(angle)) for angle in angles])


def _stream(
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


def permutation(seed: int, index: int) -> Transform:
    """What task `index` does to its images: pixel i of the result is pixel order[i] of the image."""
    order = torch.randperm(
        28 * 28, generator=generator("stream", seed, PermutedMnistSettings.stream, "permutation", index)
    )

    def permute(x: Tensor) -> Tensor:
        return x.flatten(1).index_select(1, order).reshape(x.shape)

    return permute


def rotation(degrees: float) -> Transform:
    """Turns images counterclockwise about their centre; black comes in at the corners."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    # Where in the image each pixel of the result is looked up: the turn backwards (rows run downwards).
    backwards = torch.tensor([[[cosine, -sine, 0.0], [sine, cosine, 0.0]]])  # [1, 2, 3]

    def rotate(x: Tensor) -> Tensor:
        grid = affine_grid(backwards, [1, *x.shape[1:]], align_corners=False)  # [1, height, width, 2]
        return torch.cat([_sampled(block, grid) for block in x.split(BLOCK)])

    return rotate


def _sampled(x: Tensor, grid: Tensor) -> Tensor:
    """Bilinear interpolation of bytes, uint8 [n, 1, height, width]."""
    turned = grid_sample(x.float(), grid.expand(len(x), -1, -1, -1), mode="bilinear", align_corners=False)
    return turned.round().clamp(0, 255).to(torch.uint8)
