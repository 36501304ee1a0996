"""Batch normalisation, ReLU and the sum with a shortcut, in as few passes over the planes as their order allows.

Convolutions give planes without borders, one row behind the other; they take ones with a border of zeros, `border` numbers wide
(the examples of one pixel) and one row high.
"""

from typing import Any

import numpy as np

from merlin_cl.networks.machine_code import compiled
from merlin_cl.networks.normalisation import EPSILON

NOTHING, ACTIVATIONS, PLANES = 0, 1, 2
"""What is added to a normalised plane."""


@compiled
def centre(
    z: Any, plane: int, rows: int, weights: Any, gain: Any, mean: Any, variance: Any, inverse: Any, scale: Any
) -> None:
    """Take the weighted mean off each plane, and find the variance s^2, 1 / s and gain / s.

    `weights` are those of the pixels of one row; over a plane they sum to 1.
    """
    length = len(weights)
    for c in range(len(mean)):
        total = squares = weights[0] - weights[0]  # zero, of the same kind
        for row in range(rows):
            line = z[c * plane + row * length : c * plane + (row + 1) * length]
            for j in range(length):
                total += weights[j] * line[j]
        for row in range(rows):
            line = z[c * plane + row * length : c * plane + (row + 1) * length]
            for j in range(length):
                value = line[j] - total
                line[j] = value
                squares += weights[j] * value * value
        mean[c], variance[c] = total, squares
        inverse[c] = 1 / np.sqrt(squares + EPSILON)
        scale[c] = gain[c] * inverse[c]


@compiled
def activate(
    y: Any,
    z: Any,
    plane: int,
    rows: int,
    length: int,
    border: int,
    scale: Any,
    shift: Any,
    adding: int,
    past: Any,
    past_scale: Any,
    past_shift: Any,
) -> None:
    """y, with borders: ReLU of z * scale + shift + what is added: nothing, activations, or past * past_scale + past_shift."""
    y_row = length + 2 * border
    for c in range(len(scale)):
        a, b = scale[c], shift[c]
        zero = a - a
        _enclose(y, c * (rows + 2) * y_row, rows, y_row, border)
        for row in range(rows):
            start = (c * (rows + 2) + row + 1) * y_row + border
            to = y[start : start + length]
            line = z[c * plane + row * length : c * plane + (row + 1) * length]
            if adding == NOTHING:
                for j in range(length):
                    value = line[j] * a + b
                    to[j] = zero if value < 0 else value  # what is no number stays none
            elif adding == ACTIVATIONS:
                before = past[start : start + length]
                for j in range(length):
                    value = line[j] * a + b + before[j]
                    to[j] = zero if value < 0 else value
            else:
                before = past[c * plane + row * length : c * plane + (row + 1) * length]
                past_a, both_b = past_scale[c], b + past_shift[c]
                for j in range(length):
                    value = line[j] * a + before[j] * past_a + both_b
                    to[j] = zero if value < 0 else value


@compiled
def through_relu(g: Any, y: Any, plane: int, channels: int, rows: int, length: int, border: int, also: Any) -> None:
    """The gradient by what ReLU takes, over g, from the one by what it gives: g + also (which may be empty)."""
    y_row = length + 2 * border
    for c in range(channels):
        for row in range(rows):
            at = c * plane + row * length
            start = (c * (rows + 2) + row + 1) * y_row + border
            slopes, active = g[at : at + length], y[start : start + length]
            zero = slopes[0] - slopes[0]
            if len(also) > 0:
                more = also[at : at + length]
                for j in range(length):
                    slopes[j] = zero if active[j] <= 0 else slopes[j] + more[j]
            else:
                for j in range(length):
                    slopes[j] = zero if active[j] <= 0 else slopes[j]


@compiled
def through_norm(
    d: Any,
    start: int,
    g: Any,
    z: Any,
    plane: int,
    rows: int,
    weights: Any,
    border: int,
    inverse: Any,
    scale: Any,
    of_gain: Any,
    of_bias: Any,
) -> None:
    """The gradient by what `centre` took, with borders, from `start` on in d; g is the one by what it gave, scaled and shifted.

    With weights e, z = (x - m) / s: dL/dx_i = gain / s * (g_i - e_i * sum_j g_j - e_i * z_i * sum_j g_j z_j).
    """
    length = len(weights)
    d_row = length + 2 * border
    for c in range(len(scale)):
        total = products = scale[c] - scale[c]
        for row in range(rows):
            at = c * plane + row * length
            line, slopes = z[at : at + length], g[at : at + length]
            for j in range(length):
                total += slopes[j]
                products += slopes[j] * line[j]
        of_bias[c] = total
        of_gain[c] = products * inverse[c]
        a = scale[c]
        offset, slope = a * total, a * inverse[c] * inverse[c] * products
        _enclose(d, start + c * (rows + 2) * d_row, rows, d_row, border)
        for row in range(rows):
            at = c * plane + row * length
            line, slopes = z[at : at + length], g[at : at + length]
            to_start = start + (c * (rows + 2) + row + 1) * d_row + border
            to = d[to_start : to_start + length]
            for j in range(length):
                to[j] = a * slopes[j] - weights[j] * (offset + slope * line[j])


@compiled
def _enclose(y: Any, start: int, rows: int, y_row: int, border: int) -> None:
    """Write the zeros around a plane."""
    y[start : start + y_row + border] = 0
    for row in range(1, rows):
        end = start + (row + 1) * y_row
        y[end - border : end + border] = 0
    y[start + (rows + 1) * y_row - border : start + (rows + 2) * y_row] = 0
