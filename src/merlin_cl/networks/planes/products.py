"""The sums of products that convolutions are made of, over planes in one long array.

A term of a convolution is a weight times a pixel some way from the output's own: `offsets` [terms] say how far, in numbers.
"""

from typing import Any

from merlin_cl.networks.machine_code import compiled
from merlin_cl.networks.planes.vectors import (
    BYTES,
    OUTPUTS,
    TERMS,
    VECTORS,
    correlate_one_with_five,
    correlate_one_with_one,
    correlate_three_with_five,
    correlate_three_with_one,
    multiply_five,
    multiply_five_by_vectors,
    multiply_one,
    multiply_one_by_vectors,
)

CACHED = 16 * 1024
"""Bytes of gradients that are gone over once for every term, in the fastest cache."""


@compiled
def multiply(
    y: Any,
    y_plane: int,
    x: Any,
    x_row: int,
    offsets: Any,
    weights: Any,
    outputs: int,
    rows: int,
    length: int,
) -> None:
    """y[output, pixel] = sum_t weights[t, output] * x[pixel + offsets[t]], for so many rows of so many pixels.

    Rows of y follow each other, those of x begin `x_row` apart. Up to MARGIN bytes behind a plane of y are overwritten.
    """
    lanes = BYTES // y.itemsize
    tile = VECTORS * lanes
    in_fives, in_tiles = outputs - outputs % OUTPUTS, (length + lanes - 1) // tile * tile
    for row in range(rows):
        for along in range(0, in_tiles, tile):
            pixels, to = (x, row * x_row + along), row * length + along
            for output in range(0, in_fives, OUTPUTS):
                multiply_five((y, output * y_plane + to), y_plane, pixels, offsets, (weights, output), outputs)
            for output in range(in_fives, outputs):
                multiply_one((y, output * y_plane + to), y_plane, pixels, offsets, (weights, output), outputs)
        for along in range(in_tiles, length, lanes):
            pixels, to = (x, row * x_row + along), row * length + along
            for output in range(0, in_fives, OUTPUTS):
                multiply_five_by_vectors(
                    (y, output * y_plane + to), y_plane, pixels, offsets, (weights, output), outputs
                )
            for output in range(in_fives, outputs):
                multiply_one_by_vectors(
                    (y, output * y_plane + to), y_plane, pixels, offsets, (weights, output), outputs
                )


@compiled
def correlate(
    sums: Any,
    x: Any,
    x_row: int,
    offsets: Any,
    g: Any,
    g_start: int,
    g_plane: int,
    g_row: int,
    outputs: int,
    rows: int,
    length: int,
) -> None:
    """sums[t, output] = sum over pixels of x[pixel + offsets[t]] * g[output, pixel], for so many rows of so many pixels."""
    terms = len(offsets)
    sums[:] = 0
    in_fives, in_threes = outputs - outputs % OUTPUTS, terms - terms % TERMS
    at_once = max(1, CACHED // (OUTPUTS * length * g.itemsize))
    for row in range(0, rows, at_once):
        lines = min(at_once, rows - row), length
        pixels, start = (x, row * x_row, x_row), g_start + row * g_row
        for output in range(0, in_fives, OUTPUTS):
            by = (g, start + output * g_plane, g_row)
            for term in range(0, in_threes, TERMS):
                into = (sums, term * outputs + output)
                correlate_three_with_five(into, outputs, pixels, (offsets, term), by, g_plane, lines)
            for term in range(in_threes, terms):
                into = (sums, term * outputs + output)
                correlate_one_with_five(into, outputs, pixels, (offsets, term), by, g_plane, lines)
        for output in range(in_fives, outputs):
            by = (g, start + output * g_plane, g_row)
            for term in range(0, in_threes, TERMS):
                into = (sums, term * outputs + output)
                correlate_three_with_one(into, outputs, pixels, (offsets, term), by, g_plane, lines)
            for term in range(in_threes, terms):
                into = (sums, term * outputs + output)
                correlate_one_with_one(into, outputs, pixels, (offsets, term), by, g_plane, lines)
