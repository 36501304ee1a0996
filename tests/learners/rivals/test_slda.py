"""Streaming discriminant analysis is discriminant analysis of all examples at once."""

import pytest
import torch

from merlin_cl.learners.rivals.slda_settings import SLDASettings
from merlin_cl.tensors import MASKED


def discriminant(features, y, shrinkage):
    """By the textbook, from all examples at once."""
    labels = sorted(set(y.tolist()))
    means = torch.stack([features[y == label].mean(0) for label in labels])
    centred = features - means[torch.tensor([labels.index(label) for label in y.tolist()])]
    covariance = (1 - shrinkage) * centred.T @ centred / len(y) + shrinkage * torch.eye(features.shape[1]).double()
    precision = torch.linalg.inv(covariance)
    return means @ precision, -0.5 * ((means @ precision) * means).sum(1)


@pytest.mark.parametrize("sizes", [(1,) * 40, (5, 1, 13, 21), (40,)])
def test_scores_are_those_of_batch_analysis(tiny, sizes):
    learner = SLDASettings(width=6, shrinkage=1e-3).build(tiny.stream, seed=0)
    batches = [tiny.batch(task, size=40) for task in (0, 1)]
    for task, (x, y) in enumerate(batches):
        learner.begin(tiny.tasks[task])
        for part_x, part_y in zip(x.split(sizes), y.split(sizes), strict=True):
            learner.observe(part_x, part_y)
        learner.end()
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    weight, bias = discriminant(learner._features(x), y, 1e-3)
    torch.testing.assert_close(
        learner.logits(x), (learner._features(x) @ weight.T + bias).float(), rtol=1e-4, atol=1e-4
    )


def test_learned_features_are_fixed_after_the_first_task(tiny):
    learner = SLDASettings(features="learned", exemplars=20).build(tiny.stream, seed=0)
    tiny.learn(learner, 0, end=False)
    assert learner.stored_bytes()["exemplars"] > 0
    kept_x, kept_y = learner.memory.x, learner.memory.y
    learner.end()
    assert learner.stored_bytes()["exemplars"] == 0
    weights = learner.bank.weights.clone()
    batches = [tiny.batch(1) for _ in range(3)]
    learner.begin(tiny.tasks[1])
    for x, y in batches:
        learner.observe(x, y)
    learner.end()
    assert torch.equal(learner.bank.weights, weights)
    x, y = torch.cat([kept_x, *(x for x, _ in batches)]), torch.cat([kept_y, *(y for _, y in batches)])
    weight, bias = discriminant(learner._features(x), y, 1e-4)
    torch.testing.assert_close(
        learner.logits(x), (learner._features(x) @ weight.T + bias).float(), rtol=1e-3, atol=1e-2
    )


def test_a_class_without_examples_comes_last_but_can_be_answered_when_alone(tiny):
    learner = SLDASettings(width=6).build(tiny.stream, seed=0)
    learner.begin(tiny.tasks[0])
    x, y = tiny.batch(0, size=20)
    learner.observe(x[y == 0], y[y == 0])
    learner.end()
    assert (learner.logits(x).argmax(1) == 0).all()
    assert (learner.logits(x, class_sets=[[1]])[0].argmax(1) == 1).all()
    assert (learner.logits(x)[:, 2:] == MASKED).all()
