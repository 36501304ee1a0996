"""Checksums tell two sources of features apart, and know one again."""

import functools

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer
from torch import nn

from merlin_cl.features.checksum import checksum

X = np.random.default_rng(0).normal(size=(30, 5))


def module(seed=0, **options):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 3, **options), nn.ReLU())


def scaled(factor):
    return lambda x: x * factor


class Holder:
    def __init__(self, part):
        self.part, self.me = part, self

    def __call__(self, x):
        return self.part(x)


PAIRS = {
    "weights": (lambda: module(0), lambda: module(1)),
    "structure": (lambda: module(), lambda: module(bias=False)),
    "what a function closes over": (lambda: scaled(2), lambda: scaled(3)),
    "a module in a closure": (lambda: scaled(module(0)), lambda: scaled(module(1))),
    "what a transformer was fitted to": (lambda: PCA(2).fit(X), lambda: PCA(2).fit(X[:20])),
    "a transformer's settings": (lambda: HashingVectorizer(n_features=8), lambda: HashingVectorizer(n_features=9)),
    "an argument": (lambda: functools.partial(np.power, 2), lambda: functools.partial(np.power, 3)),
    "an attribute": (lambda: Holder(module(0)), lambda: Holder(module(1))),
    "functions of one name": (lambda: lambda x: x + 1, lambda: lambda x: x - 1),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_has_another_checksum_and_what_does_not_the_same(name):
    one, other = PAIRS[name]
    assert checksum(one()) == checksum(one())
    assert checksum(one()) != checksum(other())


def test_training_mode_and_gradients_do_not_count():
    one, other = module(), module()
    other.eval().requires_grad_(False)
    assert checksum(one) == checksum(other)
