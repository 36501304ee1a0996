"""Modules as users write them."""

import math

import torch
from torch import nn


class Plain(nn.Sequential):
    """An MLP."""

    def __init__(self, input_shape, classes):
        size = math.prod(input_shape)
        super().__init__(nn.Flatten(), nn.Linear(size, 8), nn.ReLU(), nn.Linear(8, classes))


class Convolutional(nn.Module):
    """Convolutions with BatchNorm, a number of its own, a buffer that never changes, and a layer that is used twice."""

    def __init__(self, input_shape, classes):
        super().__init__()
        channels, height, width = input_shape
        self.first = nn.Conv2d(channels, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6, momentum=0.3)
        self.twice = nn.Conv2d(6, 6, 3, padding=1)
        self.scale = nn.Parameter(torch.tensor(0.7))
        self.register_buffer("ramp", torch.linspace(0, 1, height * width).view(height, width))
        self.head = nn.Linear(6, classes)

    def forward(self, x):
        h = self.norm(self.first(x + self.ramp)).relu()
        h = self.twice(self.twice(h)).relu() * self.scale
        return self.head(h.mean(dim=(2, 3)))


class Normalised(nn.Sequential):
    """BatchNorm and dropout on vectors, BatchNorm first of all."""

    def __init__(self, input_shape, classes):
        size = math.prod(input_shape)
        super().__init__(
            nn.Flatten(),
            nn.BatchNorm1d(size),
            nn.Linear(size, 16),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(16, classes),
        )


class Frozen(nn.Module):
    """A backbone that is not trained."""

    def __init__(self, input_shape, classes):
        super().__init__()
        self.backbone = nn.Linear(math.prod(input_shape), 12).requires_grad_(False)
        self.head = nn.Linear(12, classes)

    def forward(self, x):
        return self.head(self.backbone(x.flatten(1)).tanh())


class Recurrent(nn.Module):
    """An LSTM, which `vmap` cannot run."""

    def __init__(self, input_shape, classes):
        super().__init__()
        self.cells = nn.LSTM(input_shape[-1], 5, batch_first=True)
        self.head = nn.Linear(5, classes)

    def forward(self, x):
        return self.head(self.cells(x)[0][:, -1])


def hopeless(input_shape, classes):
    return nn.Linear(3, classes)


def too_few(input_shape, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), classes - 1))


def nothing(input_shape, classes):
    return None


def finished(input_shape, classes):
    return Plain(input_shape, classes).requires_grad_(False)
