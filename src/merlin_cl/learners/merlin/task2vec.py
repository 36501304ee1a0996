"""An embedding of a task computed from some of its examples, after Task2Vec (Achille and others, 2019).

A fixed network looks at the examples, a linear classifier is fitted to its features, and the embedding is how much each
unit matters to the answers: the Fisher information of a factor on the unit's output, on a logarithmic scale. Departures:
the network is small and random (seeded), not trained on ImageNet, as nothing but the stream may be known here; and
the information is that of a unit, not the mean over its weights.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError

WIDTH = 64
"""Units of the probing network, and so numbers in an embedding."""
HEAD_STEPS, HEAD_RATE, HEAD_DECAY = 100, 0.05, 1e-2


def task2vec(x: Tensor, y: Tensor) -> Tensor:
    """The embedding [WIDTH], of length one, from examples x float [n, *input_shape], y int64 [n]; whatever labels are called."""
    if len(y) == 0:
        raise UsageError("A task without examples has no task2vec embedding; give at least one.")
    classes, y = y.unique(return_inverse=True)
    x = (x - x.mean()) / x.std(correction=min(1, x.numel() - 1)).clamp(min=1e-6)
    with torch.no_grad():
        features = _features(x, torch.ones(len(x), WIDTH, device=x.device))
    centre, spread = features.mean(dim=0), features.std(dim=0, correction=0).clamp(min=1e-3)
    head = _head((features - centre) / spread, y, len(classes))
    # A factor of one on every unit, for each example on its own, so that one pass gives every example's gradient.
    factors = torch.ones(len(x), WIDTH, device=x.device, requires_grad=True)
    log_probability = ((_features(x, factors) - centre) / spread @ head.t()).log_softmax(dim=1)  # [n, classes]
    information = torch.zeros(WIDTH, device=x.device)
    for column in log_probability.unbind(dim=1):  # the expectation over answers, exactly
        (gradient,) = torch.autograd.grad(column.sum(), factors, retain_graph=True)
        information += (column.detach().exp().unsqueeze(1) * gradient.square()).mean(dim=0)
    scale = (information + 1e-6 * information.mean() + 1e-12).log()
    embedding: Tensor = scale - scale.mean()
    return functional.normalize(embedding, dim=0)


def _features(x: Tensor, factors: Tensor) -> Tensor:
    """What the probing network's two layers of units make of inputs: [n, WIDTH], each unit times its factor [n, WIDTH].

    Images pass through two convolutions and each map is averaged; all else through two dense layers.
    """
    half = WIDTH // 2
    first, second = factors.split(half, dim=1)
    if x.dim() == 4:
        h = functional.conv2d(x, _weights(half, x.shape[1], 3, 3).to(x), stride=2, padding=1).relu()
        h = h * first[:, :, None, None]
        deep = functional.conv2d(h, _weights(half, half, 3, 3).to(x), stride=2, padding=1).relu()
        deep = deep * second[:, :, None, None]
        return torch.cat([h.mean(dim=(2, 3)), deep.mean(dim=(2, 3))], dim=1)
    h = (x.flatten(1) @ _weights(half, math.prod(x.shape[1:])).to(x).t()).relu() * first
    deep = (h @ _weights(half, half).to(x).t()).relu() * second
    return torch.cat([h, deep], dim=1)


def _weights(*shape: int) -> Tensor:
    """Random weights, the same in every run and for every seed, so that embeddings can be compared."""
    generator = torch.Generator().manual_seed(math.prod(shape))
    return torch.randn(*shape, generator=generator) * math.sqrt(2 / math.prod(shape[1:]))


def _head(features: Tensor, y: Tensor, classes: int) -> Tensor:
    """A linear classifier of features [n, WIDTH], fitted from zero: [classes, WIDTH]."""
    head = torch.zeros(classes, WIDTH, device=features.device)
    target = functional.one_hot(y, classes).float()
    for _ in range(HEAD_STEPS):
        error = (features @ head.t()).softmax(dim=1) - target  # [n, classes]
        head = head - HEAD_RATE * (error.t() @ features / len(y) + HEAD_DECAY * head)
    return head
