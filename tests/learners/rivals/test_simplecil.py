"""The mean feature of each class, compared by its direction."""

import torch
from torch.nn import functional

from merlin_cl.learners.rivals.simplecil_settings import SimpleCILSettings


def test_an_answer_is_the_class_whose_mean_points_the_same_way(tiny):
    learner = SimpleCILSettings().build(tiny.stream, seed=0)
    seen, observe = [], learner.observe
    learner.observe = lambda x, y: (seen.append((x, y)), observe(x, y))
    tiny.learn(learner)
    x, y = (torch.cat(parts) for parts in zip(*seen, strict=True))
    means = torch.stack([x[y == label].mean(dim=0) for label in range(4)])
    expected = functional.cosine_similarity(x[:6, None], means[None], dim=2)
    torch.testing.assert_close(learner.logits(x[:6]), expected)


def test_learned_features_are_those_of_the_first_task_ever_after(tiny):
    learner = SimpleCILSettings(features="learned", hidden_units=(6,), exemplars=20).build(tiny.stream, seed=0)
    tiny.learn(learner, 0)
    assert len(learner.memory) == 0
    weights, first = learner.bank.weights.clone(), learner.sums[0].clone()
    tiny.learn(learner, 1)
    assert torch.equal(learner.bank.weights, weights)
    assert torch.equal(learner.sums[0], first)
    assert learner.sums.shape == (4, 6)
