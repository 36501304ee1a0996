"""Rotated MNIST: every task shows all ten digits, turned further than in the task before."""

import math
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from merlin_cl.streams.benchmarks.mnist_domains import all_digits
from merlin_cl.streams.settings import RotatedMnistSettings
from merlin_cl.streams.stream import Stream, Transform

BLOCK = 500
"""Images turned at once: bounds the memory that their pixels take as floating-point numbers."""


def build(settings: RotatedMnistSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    angles = [index * settings.degrees_per_task for index in range(settings.tasks)]
    return all_digits(settings, seed, data, [(f"{angle:g} degrees", rotation(angle)) for angle in angles])


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
