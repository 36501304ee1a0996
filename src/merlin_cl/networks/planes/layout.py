"""Images to planes, planes to means and back, and planes to what a convolution with a stride of two takes.

All planes of activations have a border of zeros, one pixel wide.
"""

from typing import Any

import numpy as np

from merlin_cl.networks.machine_code import compiled


@compiled
def pack(y: Any, images: Any) -> None:
    """images [N, C, H, W] as planes."""
    count, channels, height, width = images.shape
    y[:] = 0
    row = (width + 2) * count
    for c in range(channels):
        for h in range(height):
            start = (c * (height + 2) + h + 1) * row + count
            to = y[start : start + width * count]
            for n in range(count):
                line = images[n, c, h]
                for w in range(width):
                    to[w * count + n] = line[w]


@compiled
def average(means: Any, y: Any, grid: int, height: int, width: int) -> None:
    """means [N, C * grid * grid] of planes y over the windows of a grid; where sizes do not divide, neighbours overlap."""
    count = len(means)
    row = (width + 2) * count
    sums = np.empty_like(means[:, 0])
    for place in range(means.shape[1]):
        c = place // (grid * grid)
        top, bottom = _window(place // grid % grid, grid, height)
        left, right = _window(place % grid, grid, width)
        sums[:] = 0
        for h in range(top, bottom):
            for w in range(left, right):
                start = (c * (height + 2) + h + 1) * row + (w + 1) * count
                pixels = y[start : start + count]
                for n in range(count):
                    sums[n] += pixels[n]
        for n in range(count):
            means[n, place] = sums[n] / ((bottom - top) * (right - left))


@compiled
def spread(g: Any, plane: int, of_means: Any, grid: int, height: int, width: int) -> None:
    """Add the gradient by planes without borders from the one by their means, [N, C * grid * grid]."""
    count = len(of_means)
    shares = np.empty_like(of_means[:, 0])
    for place in range(of_means.shape[1]):
        c = place // (grid * grid)
        top, bottom = _window(place // grid % grid, grid, height)
        left, right = _window(place % grid, grid, width)
        for n in range(count):
            shares[n] = of_means[n, place] / ((bottom - top) * (right - left))
        for h in range(top, bottom):
            for w in range(left, right):
                start = c * plane + (h * width + w) * count
                to = g[start : start + count]
                for n in range(count):
                    to[n] += shares[n]


@compiled
def _window(place: int, grid: int, size: int) -> tuple[int, int]:
    """Where one of the grid's windows begins and ends: as in torch's adaptive pooling."""
    return place * size // grid, ((place + 1) * size + grid - 1) // grid


@compiled
def split_columns(split: Any, y: Any, rows: int, width: int, count: int) -> None:
    """Each row of y, borders included, as its even columns and then its odd ones.

    There are as many odd ones as outputs of a convolution with a stride of two, and one more even one.
    """
    outputs = (width + 1) // 2
    for row in range(rows):
        line = y[row * (width + 2) * count : (row + 1) * (width + 2) * count]
        to = split[row * (2 * outputs + 1) * count : (row + 1) * (2 * outputs + 1) * count]
        for column in range(2 * outputs + 1):
            place = column // 2 + (column % 2) * (outputs + 1)
            into, pixels = to[place * count : (place + 1) * count], line[column * count : (column + 1) * count]
            for n in range(count):
                into[n] = pixels[n]


@compiled
def merge_phases(
    g: Any, plane: int, phases: Any, phase_plane: int, channels: int, height: int, width: int, count: int
) -> None:
    """Planes without borders from those of their even and odd rows and columns: even-even, even-odd, odd-even, odd-odd."""
    for c in range(channels):
        for h in range(height):
            for odd in range(2):
                columns = (width + 1 - odd) // 2
                start = ((2 * (h % 2) + odd) * channels + c) * phase_plane + (h // 2) * columns * count
                line = phases[start : start + columns * count]
                to = g[c * plane + h * width * count : c * plane + (h + 1) * width * count]
                for column in range(columns):
                    into = to[(2 * column + odd) * count : (2 * column + odd + 1) * count]
                    pixels = line[column * count : (column + 1) * count]
                    for n in range(count):
                        into[n] = pixels[n]
