"""A data set in two parts, one to train on and one to test on. Labels are known at once, images are read when asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import interpolate

PartName = Literal["train", "test"]
BLOCK = 1000
"""Images resized at once: bounds the memory that their pixels take as floating-point numbers."""


class Part(ABC):
    """Examples of a data set."""

    def __init__(self, labels: Tensor) -> None:
        """`labels` are int64 [N]."""
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    @abstractmethod
    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The images at the positions `at`, brought to the shape (channels, height, width): uint8 [n, *shape]."""


class LoadedPart(Part):
    """Examples that are in memory."""

    def __init__(self, x: Tensor, labels: Tensor) -> None:
        """`x` is uint8 [N, channels, height, width]."""
        super().__init__(labels)
        self.x = x

    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The images at the positions `at`; all of them in their own shape and order are not copied."""
        if len(at) == len(self.x) and at.equal(torch.arange(len(at))):
            return fitted(self.x, shape)
        return fitted(self.x.index_select(0, at), shape)


@dataclass(frozen=True)
class DataSet:
    """A data set in a place. Each part is read when asked for, so whoever trains alone never opens the test set."""

    title: str
    place: str
    """Where it is, in words."""
    classes: tuple[str, ...]
    """The names of its classes, by label."""
    read: Callable[[PartName], Part]
    counted: str = "{:,} training images"
    """How many examples its training part has, in words."""

    def describe(self, train: Part) -> str:
        """The data set and where it is, in words, for messages."""
        return f"{self.place} ({self.counted.format(len(train))})"

    def content(self, train: Part) -> str:
        """The data set in words that stay the same when it is moved, for the record of a run."""
        return f"{self.title}, {self.counted.format(len(train))}"


def fitted(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Images brought to a shape: grey ones are repeated in every channel, others resized (bilinear, antialiased)."""
    channels, *size = shape
    if x.shape[1] != channels:
        assert x.shape[1] == 1, "colour images are not made grey"
        x = x.expand(-1, channels, -1, -1)
    if list(x.shape[2:]) == size:
        return x.contiguous()
    fitted = torch.empty(len(x), channels, *size, dtype=torch.uint8)
    for source, target in zip(x.split(BLOCK), fitted.split(BLOCK), strict=True):
        target.copy_(interpolate(source.float(), size, mode="bilinear", antialias=True).round_().clamp_(0, 255))
    return fitted


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
