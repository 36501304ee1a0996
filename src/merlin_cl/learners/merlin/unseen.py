"""Priors for tasks that no model has learned: what their descriptors have in common with those of tasks that are known.

The paper's prior is linear in the task vector. While the VAE learns, its linear map is fitted to the newest task; what is kept
of earlier ones are their priors. So the map for a new descriptor t is taken through all stored priors: t is written as a
mixture of known descriptors, as well as that can be done, and the prior is that of the same mixture of their latents. A
descriptor that has nothing in common with any known one gets the latent zero: a network at its shared start.
"""

from typing import Literal

import torch
from torch import Tensor

Blend = Literal["linear", "neighbours"]
"""`linear`: one mixture for all models. `neighbours`: each model is sampled for one known task, near ones more often."""

TOLERANCE = 1e-3
"""Directions in which known descriptors differ by less than this, relative to the largest, do not take part in a mixture."""
SHARPNESS = 10.0
"""How much more often a nearer task is a model's origin (neighbours): factor e for 0.1 of cosine."""


def mixture(known: Tensor, descriptor: Tensor) -> Tensor:
    """The weights a [T] with which known descriptors [T, width] come nearest to a descriptor [width]: of those the smallest."""
    inverse: Tensor = torch.linalg.pinv(known.double().t(), rtol=TOLERANCE)  # [T, width]
    return (inverse @ descriptor.double()).float()


def nearness(known: Tensor, descriptor: Tensor) -> Tensor:
    """The probability [T] with which a model for an unseen task starts from each known one, by cosine."""
    cosine = torch.nn.functional.cosine_similarity(known, descriptor.unsqueeze(0), dim=1)
    return (SHARPNESS * cosine).softmax(dim=0)


def semantic_scores(probabilities: Tensor, known: Tensor, wanted: Tensor, top: int = 10) -> Tensor:
    """Scores [N, C] of classes without a single example, from how likely an input finds known classes, [N, K].

    An input gets the mean word vector of the `top` classes found likeliest, weighted by probability, and a new class scores
    the cosine of its own vector with it (Norouzi and others, "Zero-shot learning by convex combination of semantic
    embeddings", 2014). `known` [K, width] and `wanted` [C, width] are vectors of class names. All are taken
    relative to the mean of the known ones, as word vectors share a large part that tells nothing apart.
    """
    centre = known.mean(dim=0)
    likeliest, at = probabilities.topk(min(top, probabilities.shape[1]), dim=1)  # [N, top]
    inputs = (likeliest.unsqueeze(2) * (known - centre)[at]).sum(dim=1)  # [N, width]
    return torch.nn.functional.cosine_similarity(inputs.unsqueeze(1), (wanted - centre).unsqueeze(0), dim=2)
