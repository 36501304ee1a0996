"""Discriminant analysis in the space of a Gaussian kernel, exact whatever the order of examples."""

import copy

import torch

from merlin_cl.learners.rivals.klda import mean_squared_distance
from merlin_cl.learners.rivals.klda_settings import KLDASettings


def test_inner_products_of_features_approach_the_kernel(tiny):
    learner = KLDASettings(width=5000, gamma=0.3).build(tiny.stream, seed=0)
    x = torch.randn(9, 3, generator=torch.Generator().manual_seed(1))
    features = learner._features(x)
    kernel = (-0.3 * torch.cdist(x.double(), x.double()).square()).exp()
    torch.testing.assert_close(features @ features.T, kernel, atol=0.03, rtol=0)


def test_it_is_the_analysis_of_all_examples_at_once(tiny):
    learner = KLDASettings(width=12, gamma=0.2, shrinkage=0.1).build(tiny.stream, seed=0)
    seen = []
    observe = learner.observe
    learner.observe = lambda x, y: (seen.append((x, y)), observe(x, y))
    tiny.learn(learner)
    x, y = (torch.cat(parts) for parts in zip(*seen, strict=True))
    features = learner._features(x)
    means = torch.stack([features[y == label].mean(dim=0) for label in range(4)])
    within = features - means[y]
    covariance = (1 - 0.1 / 12) * within.T @ within / len(y) + 0.1 / 12 * torch.eye(12)
    asked = learner._features(x[:5])
    away = asked[:, None, :] - means
    distances = torch.einsum("ncd,de,nce->nc", away, torch.linalg.inv(covariance), away)  # Mahalanobis
    answers = learner.logits(x[:5]).double()
    torch.testing.assert_close(answers - answers[:, :1], -(distances - distances[:, :1]) / 2, rtol=1e-4, atol=1e-4)


def test_the_bandwidth_is_that_of_the_first_batch_and_stays(tiny):
    learner = KLDASettings(width=5, bandwidth=2.0).build(tiny.stream, seed=0)
    x, _ = copy.deepcopy(tiny).batch(0)
    tiny.learn(learner)
    apart = torch.cdist(x.double(), x.double()).square().sum() / (len(x) * (len(x) - 1))
    torch.testing.assert_close(learner.gamma, 2.0 / float(apart))
    assert mean_squared_distance(torch.tensor([[3.0, 4.0]])) == 25.0


def test_no_example_is_kept(tiny):
    learner = tiny.learn(KLDASettings(width=5).build(tiny.stream, seed=0))
    assert len(learner.memory) == 0
    assert set(learner.stored_bytes()) == {"statistics"}
