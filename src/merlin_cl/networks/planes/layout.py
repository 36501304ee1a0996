"""Images to planes, planes to means and back, and planes to what a convolution with a stride of two reads.

All planes of activations have a border of zeros, one pixel wide.
"""

from typing import Any

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
def average(means: Any, y: Any, height: int, width: int) -> None:
    """means [N, C] over the pixels of planes y."""
    count, channels = means.shape
    row = (width + 2) * count
    means[:] = 0
    for c in range(channels):
        for h in range(height):
            for w in range(width):
                start = (c * (height + 2) + h + 1) * row + (w + 1) * count
                for n in range(count):
                    means[n, c] += y[start + n]
        for n in range(count):
            means[n, c] /= height * width


@compiled
def spread(g: Any, plane: int, of_means: Any, pixels: int) -> None:
    """The gradient by planes without borders from the one by their means, [N, C]."""
    count, channels = of_means.shape
    for c in range(channels):
        for n in range(count):
            share = of_means[n, c] / pixels
            for pixel in range(pixels):
                g[c * plane + pixel * count + n] = share


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
