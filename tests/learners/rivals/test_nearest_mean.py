"""Answers by the nearest mean of features."""

import torch

from merlin_cl.learners.rivals.nearest_mean import class_means, nearest_mean
from merlin_cl.tensors import MASKED


def test_the_nearest_mean_wins_and_classes_without_one_come_last():
    features = torch.nn.functional.normalize(torch.tensor([[1.0, 0.1], [0.1, 1.0], [1.0, 0.0]]), dim=1)
    means, known = class_means(features, torch.tensor([0, 2, 0]), classes=4)
    assert known.tolist() == [True, False, True, False]
    torch.testing.assert_close(means[known].norm(dim=1), torch.ones(2))
    everything, two = nearest_mean(features, means, known, torch.tensor([[True] * 4, [False, True, True, False]]))
    assert everything.argmax(dim=1).tolist() == [0, 2, 0]
    assert everything.argmin(dim=1).unique().item() in (1, 3)
    assert two.argmax(dim=1).tolist() == [2, 2, 2]
    assert bool((two[:, [0, 3]] == MASKED).all())
