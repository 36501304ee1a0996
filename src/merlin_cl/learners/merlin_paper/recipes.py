"""What the paper's text and its authors' published code say differently, side by side. Free of torch."""

from dataclasses import dataclass
from typing import Literal

from merlin_cl.learners.ensemble_settings import Vote

Reading = Literal["text", "code"]


@dataclass(frozen=True)
class Recipe:
    """One reading of the recipe in the points in which the two differ; what both share stands where it is used."""

    shared_start: bool
    """Whether a task's base models all start from one point, rather than each from its own."""
    updates_per_batch: int
    """Gradient steps of the base models on each arriving batch."""
    learning_rate: float
    """Adam's rate for base models."""
    unseen_compete: bool
    """Whether outputs of classes not seen yet take part in a classifier's loss."""
    new_vae: bool
    """Whether every task has a VAE of its own, drawn afresh, rather than all of them one."""
    shuffled: bool
    """Whether chunks are taken in a random order, rather than model by model from the first chunk to the last."""
    zero_embedding: bool
    """Whether chunk embeddings start at zero (the code takes the memory as it finds it), rather than drawn from N(0, 1)."""
    tanh: bool
    """Whether the decoder's units and its output are tanh, rather than ReLU and linear."""
    dropout: float
    """The share of hidden units of encoder and decoder that a training step leaves out."""
    uniform_noise: bool
    """Whether z = mean + deviation * noise has noise from [0, 1), rather than from N(0, 1)."""
    mean_square: bool
    """Whether a chunk's reconstruction error is the mean of its squares, rather than half their sum, as a Gaussian decoder of
    unit variance has it. It makes the KL term 150 times as heavy for chunks of 300."""
    optimiser: Literal["adagrad", "adadelta"]
    """What fits the VAE."""
    rate: float
    """Its learning rate."""
    log_variance: bool
    """Whether the prior's linear map gives the logarithm of the variance, rather than the variance."""
    aggregate_variance: float | None
    """The variance of the aggregated prior; None: the mean of the tasks' variances."""
    vote: Vote
    """How sampled models agree on an answer."""


RECIPES: dict[Reading, Recipe] = {
    "text": Recipe(
        shared_start=False,
        updates_per_batch=1,
        learning_rate=1e-3,
        unseen_compete=False,
        new_vae=False,
        shuffled=True,
        zero_embedding=False,
        tanh=False,
        dropout=0.0,
        uniform_noise=False,
        mean_square=False,
        optimiser="adagrad",
        rate=1e-3,
        log_variance=False,
        aggregate_variance=None,
        vote="majority",
    ),
    "code": Recipe(
        shared_start=True,
        updates_per_batch=20,
        learning_rate=5e-3,
        unseen_compete=True,
        new_vae=True,
        shuffled=False,
        zero_embedding=True,
        tanh=True,
        dropout=0.3,
        uniform_noise=True,
        mean_square=True,
        optimiser="adadelta",
        rate=5e-3,
        log_variance=True,
        aggregate_variance=2.718281828459045,  # the exponential of a log-variance of one
        vote="sum-logits",
    ),
}
