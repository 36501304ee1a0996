"""Fitting the VAE one chunk at a time (batch size 1), compiled: forward pass, backward pass and optimiser by hand.

A step is 90,000 multiplications and a run has 370,000 of them; dispatched from Python, all but a fiftieth of the time goes into
calling. Random numbers are drawn beforehand, so a plain torch program that is given the same ones arrives at the same weights
(`tests/learners/merlin_paper/test_compiled.py`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merlin_cl.networks.machine_code import compiled

Array = NDArray[np.float32]

ADAGRAD_EPSILON = np.float32(1e-10)
"""torch's."""
ADADELTA_DECAY, ADADELTA_EPSILON = np.float32(0.9), np.float32(1e-2)
"""The authors'."""
ZERO, HALF, ONE, TWO = np.float32(0), np.float32(0.5), np.float32(1), np.float32(2)
"""A plain 0.5 would turn all that it meets into 64 bits."""


class Parts(NamedTuple):
    """The VAE's weights, or what belongs to each of them, layer by layer: views of one flat array. L latents, H hidden units."""

    encoder_weight: Array  # [H, size]
    encoder_bias: Array  # [H]
    mean_weight: Array  # [L, H]
    mean_bias: Array  # [L]
    log_variance_weight: Array  # [L, H]
    log_variance_bias: Array  # [L]
    embedding: Array  # [K, L]
    decoder_weight: Array  # [H, 2 L], the chunk's embedding first
    decoder_bias: Array  # [H]
    output_weight: Array  # [size, H]
    output_bias: Array  # [size]
    prior_mean_weight: Array  # [L, T]
    prior_mean_bias: Array  # [L]
    prior_variance_weight: Array  # [L, T]
    prior_variance_bias: Array  # [L]


class Rules(NamedTuple):
    """The recipe, as far as a step depends on it."""

    tanh: bool
    log_variance: bool
    least_variance: float
    learned_prior: bool
    error_weight: float
    """What the sum of a chunk's squared errors counts in the loss."""
    adadelta: bool
    rate: float


class Flat(NamedTuple):
    """All weights, their gradient, and what the optimiser remembers of each (AdaGrad uses the first of the two), [D]."""

    weights: Array
    gradient: Array
    squares: Array
    deltas: Array


@compiled
def adagrad(flat: Flat, rate: float) -> None:
    """One step of `torch.optim.Adagrad` along the gradient."""
    step = np.float32(rate)
    weights, gradient, squares, _ = flat
    for i in range(len(weights)):
        squares[i] += gradient[i] * gradient[i]
        weights[i] -= step * gradient[i] / (math.sqrt(squares[i]) + ADAGRAD_EPSILON)


@compiled
def adadelta(flat: Flat, rate: float) -> None:
    """One step of `torch.optim.Adadelta` along the gradient."""
    step, rest = np.float32(rate), ONE - ADADELTA_DECAY
    weights, gradient, squares, deltas = flat
    for i in range(len(weights)):
        squares[i] = ADADELTA_DECAY * squares[i] + rest * gradient[i] * gradient[i]
        delta = math.sqrt(deltas[i] + ADADELTA_EPSILON) / math.sqrt(squares[i] + ADADELTA_EPSILON) * gradient[i]
        deltas[i] = ADADELTA_DECAY * deltas[i] + rest * delta * delta
        weights[i] -= step * delta


@compiled
def copy(target: Array, source: Array) -> None:
    """target = source. `target[:] = source` would compile, into every process, words for shapes that differ: two seconds."""
    for j in range(len(target)):
        target[j] = source[j]


@compiled
def outer(gradient: Array, left: Array, right: Array) -> None:
    """gradient = left right^T, [len(left), len(right)]."""
    for j in range(len(left)):
        for k in range(len(right)):
            gradient[j, k] = left[j] * right[k]


@compiled
def apply(weight: Array, bias: Array, x: Array, y: Array) -> None:
    """y = weight x + bias."""
    for j in range(len(y)):
        total = ZERO
        for k in range(len(x)):
            total += weight[j, k] * x[k]
        y[j] = total + bias[j]


@compiled
def add_transposed(weight: Array, y: Array, x: Array) -> None:
    """x += weight^T y."""
    for j in range(len(y)):
        for k in range(len(x)):
            x[k] += weight[j, k] * y[j]


@compiled
def fit(
    w: Parts,
    g: Parts,
    flat: Flat,
    rules: Rules,
    chunks: Array,
    positions: NDArray[np.int64],
    noise: Array,
    kept: Array,
    task: Array,
    losses: Array,
) -> None:
    """One step on each chunk in turn, chunks [N, size] at positions [N] of their models; the losses met go to `losses` [N].

    `w` and `g` are views of the flat weights and gradient. noise [N, L] makes the latents; kept [N, 2, H], or [1, 2, H] for all
    steps, is what dropout multiplies encoder's and decoder's units by; task [T] is the task vector.
    """
    hidden, size = w.encoder_weight.shape
    latent = len(w.mean_bias)
    h, mean, log_variance = np.empty(hidden, np.float32), np.empty(latent, np.float32), np.empty(latent, np.float32)
    prior_mean, prior_log = np.zeros(latent, np.float32), np.zeros(latent, np.float32)
    prior_variance = np.ones(latent, np.float32)
    code, u, out = np.empty(2 * latent, np.float32), np.empty(hidden, np.float32), np.empty(size, np.float32)
    d_out, d_u, d_code = np.empty(size, np.float32), np.empty(hidden, np.float32), np.empty(2 * latent, np.float32)
    d_h, d_mean, d_log = np.empty(hidden, np.float32), np.empty(latent, np.float32), np.empty(latent, np.float32)
    d_prior_mean, d_prior_variance = np.empty(latent, np.float32), np.empty(latent, np.float32)
    error_weight, least_variance = np.float32(rules.error_weight), np.float32(rules.least_variance)
    g.embedding[:] = ZERO
    for part in (g.prior_mean_weight, g.prior_variance_weight):
        part[:] = ZERO
    for bias in (g.prior_mean_bias, g.prior_variance_bias):
        bias[:] = ZERO

    for i in range(len(chunks)):
        x, position, keep = chunks[i], positions[i], kept[i % len(kept)]

        # Encoder: q(z | chunk) and a draw from it.
        apply(w.encoder_weight, w.encoder_bias, x, h)
        for j in range(hidden):
            h[j] = max(h[j], ZERO) * keep[0, j]
        apply(w.mean_weight, w.mean_bias, h, mean)
        apply(w.log_variance_weight, w.log_variance_bias, h, log_variance)
        for j in range(latent):
            code[j] = w.embedding[position, j]
            code[latent + j] = mean[j] + noise[i, j] * math.exp(HALF * log_variance[j])

        # Decoder: the chunk from its place and z.
        apply(w.decoder_weight, w.decoder_bias, code, u)
        for j in range(hidden):
            u[j] = math.tanh(u[j] * keep[1, j]) if rules.tanh else max(u[j], ZERO) * keep[1, j]
        apply(w.output_weight, w.output_bias, u, out)
        error = ZERO
        for k in range(size):
            if rules.tanh:
                out[k] = math.tanh(out[k])
            wrong = out[k] - x[k]
            error += wrong * wrong
            d_out[k] = TWO * error_weight * wrong
            if rules.tanh:
                d_out[k] *= ONE - out[k] * out[k]

        # Prior p(z | t), and the KL divergence of the posterior from it.
        if rules.learned_prior:
            apply(w.prior_mean_weight, w.prior_mean_bias, task, prior_mean)
            apply(w.prior_variance_weight, w.prior_variance_bias, task, prior_log)
            for j in range(latent):
                if rules.log_variance:
                    prior_variance[j] = math.exp(prior_log[j])
                else:
                    prior_variance[j] = max(prior_log[j], least_variance)
                    prior_log[j] = math.log(prior_variance[j])
        divergence = ZERO
        for j in range(latent):
            ratio = math.exp(log_variance[j] - prior_log[j])
            away = (mean[j] - prior_mean[j]) / prior_variance[j]
            far = away * (mean[j] - prior_mean[j])
            divergence += HALF * (ratio + far - ONE - (log_variance[j] - prior_log[j]))
            d_mean[j] = away
            d_log[j] = HALF * (ratio - ONE)
            d_prior_mean[j] = -away
            d_prior_variance[j] = HALF * (ONE - ratio - far)  # by the logarithm of the variance
            if not rules.log_variance:
                d_prior_variance[j] /= prior_variance[j]
        losses[i] = error_weight * error + divergence

        # Backwards through the decoder.
        outer(g.output_weight, d_out, u)
        copy(g.output_bias, d_out)
        d_u[:] = ZERO
        add_transposed(w.output_weight, d_out, d_u)
        for j in range(hidden):
            if rules.tanh:
                d_u[j] *= (ONE - u[j] * u[j]) * keep[1, j]
            else:
                d_u[j] *= keep[1, j] if u[j] > ZERO else ZERO
        outer(g.decoder_weight, d_u, code)
        copy(g.decoder_bias, d_u)
        d_code[:] = ZERO
        add_transposed(w.decoder_weight, d_u, d_code)

        # Backwards through the draw and the encoder.
        for j in range(latent):
            g.embedding[position, j] = d_code[j]
            d_mean[j] += d_code[latent + j]
            d_log[j] += d_code[latent + j] * HALF * (code[latent + j] - mean[j])
        outer(g.mean_weight, d_mean, h)
        copy(g.mean_bias, d_mean)
        outer(g.log_variance_weight, d_log, h)
        copy(g.log_variance_bias, d_log)
        d_h[:] = ZERO
        add_transposed(w.mean_weight, d_mean, d_h)
        add_transposed(w.log_variance_weight, d_log, d_h)
        for j in range(hidden):
            d_h[j] *= keep[0, j] if h[j] > ZERO else ZERO
        outer(g.encoder_weight, d_h, x)
        copy(g.encoder_bias, d_h)
        if rules.learned_prior:
            outer(g.prior_mean_weight, d_prior_mean, task)
            copy(g.prior_mean_bias, d_prior_mean)
            outer(g.prior_variance_weight, d_prior_variance, task)
            copy(g.prior_variance_bias, d_prior_variance)

        if rules.adadelta:
            adadelta(flat, rules.rate)
        else:
            adagrad(flat, rules.rate)
        g.embedding[position, :] = ZERO
