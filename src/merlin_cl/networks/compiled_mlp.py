"""Adam on the members of a bank of MLPs as machine code: the steps that `Training` takes in small batches, several times as fast,
and the first layer when many examples are answered.

A small batch of a small network costs torch as much in traffic as in arithmetic. Here one member after the other takes all its
steps, so that its weights stay in the cache, and neither inputs nor units that are zero are multiplied: in a digit four fifths
are.
"""

import math

import numpy as np
from numpy.typing import NDArray

from merlin_cl.networks.machine_code import compiled
from merlin_cl.networks.optimisers import BETAS, EPSILON

Array = NDArray[np.float32]
Indices = NDArray[np.int64]

ZERO, ONE = np.float32(0), np.float32(1)
DECAY, SQUARE_DECAY, ADAM_EPSILON = np.float32(BETAS[0]), np.float32(BETAS[1]), np.float32(EPSILON)


@compiled
def forward(layer: Array, places: Indices, values: Array, count: int, outputs: Array) -> None:
    """outputs [out] = the sum of rows of a layer [in + 1, out], four at a time, at places [in + 4] times their values."""
    for j in range(len(outputs)):
        outputs[j] = ZERO
    for k in range(0, count, 4):
        a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
        p, q, r, s = places[k], places[k + 1], places[k + 2], places[k + 3]
        for j in range(len(outputs)):
            outputs[j] += (a * layer[p, j] + b * layer[q, j]) + (c * layer[r, j] + d * layer[s, j])


@compiled
def list_units(units: Array, places: Indices, values: Array) -> int:
    """Units [in] that are not zero: their places and values, then a one for the bias, then zeros; returns how many there are.

    There is no branch: where every other number is zero, guessing wrongly costs more than writing in vain.
    """
    count = 0
    for i in range(len(units)):
        places[count], values[count] = i, units[i]
        count += units[i] != ZERO
    places[count], values[count] = len(units), ONE
    for k in range(count + 1, count + 4):
        places[k], values[k] = 0, ZERO
    return count + 1


@compiled
def list_inputs(x: Array, places: Indices, values: Array, counts: Indices) -> None:
    """For every example of x [N, in], its inputs that are not zero: places and values [N, in + 8], and how many, counts [N]."""
    for n in range(len(x)):
        counts[n] = list_units(x[n], places[n], values[n]) - 1
        for k in range(counts[n], counts[n] + 8):
            places[n, k], values[n, k] = 0, ZERO


@compiled
def answer(layer: Array, bias: Array, places: Indices, values: Array, counts: Indices, outputs: Array) -> None:
    """outputs [N, out] of a layer [in, out] for examples as `list_inputs` has them, eight inputs at a time."""
    for n in range(len(outputs)):
        units = outputs[n]
        for j in range(len(bias)):
            units[j] = bias[j]
        for start in range(0, counts[n], 8):
            p, v = places[n, start : start + 8], values[n, start : start + 8]
            p0, p1, p2, p3, p4, p5, p6, p7 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
            v0, v1, v2, v3, v4, v5, v6, v7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
            for j in range(len(bias)):
                units[j] += ((v0 * layer[p0, j] + v1 * layer[p1, j]) + (v2 * layer[p2, j] + v3 * layer[p3, j])) + (
                    (v4 * layer[p4, j] + v5 * layer[p5, j]) + (v6 * layer[p6, j] + v7 * layer[p7, j])
                )


@compiled
def backward(layer: Array, units: Array, slope: Array, below: Array) -> None:
    """below [in] = the slope of the loss by units [in], which ReLU gave, from that by the layer's outputs, slope [out]."""
    for i in range(len(below)):
        total = ZERO
        if units[i] > ZERO:
            for j in range(len(slope)):
                total += layer[i, j] * slope[j]
        below[i] = total


@compiled
def add_gradient(gradient: Array, places: Indices, values: Array, count: int, slope: Array) -> None:
    """gradient [in + 1, out] += what an example adds: its units at their places, times the slope by the layer's outputs."""
    for k in range(count):
        value, i = values[k], places[k]
        for j in range(len(slope)):
            gradient[i, j] += value * slope[j]


@compiled
def adam(weights: Array, means: Array, squares: Array, gradient: Array, rate: float, root: float, decay: float) -> None:
    """A step of Adam along a gradient, which is zero afterwards. `rate` and `root` have the bias corrections of the step in them;
    the decay is an L2 term in the gradient."""
    step, scale, shrink = np.float32(rate), np.float32(root), np.float32(decay)
    for k in range(len(weights)):
        g = gradient[k] + shrink * weights[k]
        mean = means[k] + (ONE - DECAY) * (g - means[k])
        square = SQUARE_DECAY * squares[k] + (ONE - SQUARE_DECAY) * g * g
        means[k] = mean
        squares[k] = square
        gradient[k] = ZERO
        weights[k] -= step * mean / (math.sqrt(square) * scale + ADAM_EPSILON)


@compiled
def cross_entropy_slope(logits: Array, label: int, allowed: NDArray[np.bool_], share: float, slope: Array) -> None:
    """The slope [classes] of the cross-entropy of an example, times its share; only `allowed` classes compete."""
    largest, total = -np.float32(np.inf), ZERO
    for c in range(len(allowed)):
        if allowed[c]:
            largest = max(largest, logits[c])
    for c in range(len(allowed)):
        slope[c] = math.exp(logits[c] - largest) if allowed[c] else ZERO
        total += slope[c]
    for c in range(len(allowed)):
        slope[c] *= np.float32(share) / total
    slope[label] -= np.float32(share)


@compiled
def train(
    rows: Array,
    means: Array,
    squares: Array,
    widths: Indices,
    x: Array,
    y: Indices,
    batches: Indices,
    allowed: NDArray[np.bool_],
    steps: int,
    rate: float,
    decay: float,
) -> None:
    """A step of every member on each of its batches in turn.

    rows, means and squares, [M, P], are the weights and Adam's moments after so many `steps`; all three change in place. batches
    [M, S, N] are places in x [n, inputs] and y [n]; -1 stands for none, and a member whose batch has none is left as it was.
    """
    layers, widest = len(widths) - 1, widths.max() + 4
    inputs, input_values = np.empty((len(x), widest), np.int64), np.empty((len(x), widest), np.float32)
    sizes = np.empty(len(x), np.int64)
    for n in range(len(x)):
        sizes[n] = list_units(x[n], inputs[n], input_values[n])
    units = [np.empty(width, np.float32) for width in widths]
    slopes = [np.empty(width, np.float32) for width in widths]
    places, values = np.empty((layers, widest), np.int64), np.empty((layers, widest), np.float32)
    counts, gradient = np.empty(layers, np.int64), np.zeros(rows.shape[1], np.float32)
    for member in range(len(rows)):
        for batch in range(batches.shape[1]):
            taken = 0
            for chosen in batches[member, batch]:
                taken += chosen >= 0
            if taken == 0:
                continue

            for chosen in batches[member, batch]:
                if chosen < 0:
                    continue
                counts[0] = sizes[chosen]
                for k in range(sizes[chosen] + 3):
                    places[0, k], values[0, k] = inputs[chosen, k], input_values[chosen, k]
                at = 0
                for place in range(layers):
                    fan_in, fan_out = widths[place] + 1, widths[place + 1]
                    layer = rows[member, at : at + fan_in * fan_out].reshape(fan_in, fan_out)
                    if place > 0:
                        for j in range(len(units[place])):
                            units[place][j] = max(units[place][j], ZERO)
                        counts[place] = list_units(units[place], places[place], values[place])
                    forward(layer, places[place], values[place], counts[place], units[place + 1])
                    at += fan_in * fan_out
                cross_entropy_slope(units[layers], y[chosen], allowed, 1 / taken, slopes[layers])
                for place in range(layers - 1, -1, -1):
                    fan_in, fan_out = widths[place] + 1, widths[place + 1]
                    at -= fan_in * fan_out
                    layer = rows[member, at : at + fan_in * fan_out].reshape(fan_in, fan_out)
                    if place > 0:
                        backward(layer, units[place], slopes[place + 1], slopes[place])
                    of_layer = gradient[at : at + fan_in * fan_out].reshape(fan_in, fan_out)
                    add_gradient(of_layer, places[place], values[place], counts[place], slopes[place + 1])

            done = steps + batch + 1
            step, root = rate / (1 - BETAS[0] ** done), 1 / math.sqrt(1 - BETAS[1] ** done)
            adam(rows[member], means[member], squares[member], gradient, step, root, decay)
