"""Data sets that are published in one part: which of their examples are for training and which for testing."""

import torch
from torch import Tensor

from merlin_cl.streams.datasets.dataset import PartName


def division(labels: Tensor, share: int, part: PartName) -> Tensor:
    """Positions of the training or the test examples, int64 [n]: of each class, in the order given, the last 1/share is for
    testing (600 images and a share of 6: the usual 500 and 100).

    >>> labels = torch.tensor([0, 1, 0, 1, 0, 1, 0, 1])
    >>> division(labels, 4, "train").tolist(), division(labels, 4, "test").tolist()
    ([0, 1, 2, 3, 4, 5], [6, 7])
    """
    testing = torch.zeros(len(labels), dtype=torch.bool)
    for label in labels.unique():
        at = (labels == label).nonzero().squeeze(1)
        testing[at[len(at) - len(at) // share :]] = True
    return (testing if part == "test" else ~testing).nonzero().squeeze(1)
