"""Which network suits an input: the paper's two, chosen by shape."""

from typing import Literal

from merlin_cl.errors import UsageError
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.network import Network
from merlin_cl.networks.resnet import ResNet

Kind = Literal["auto", "mlp", "resnet"]
SMALLEST_IMAGE = 32
"""Pixels a side from which images are worth convolutions; the paper's MNIST classifier is an MLP."""


def network_for(kind: Kind, input_shape: tuple[int, ...], classes: int, hidden: tuple[int, ...]) -> Network:
    """The network of a kind for inputs of a shape; `auto`: a ResNet for images of 32 pixels or more, an MLP otherwise.

    >>> network_for("auto", (1, 28, 28), 10, (100, 100)).size, network_for("auto", (3, 32, 32), 10, (100, 100)).size
    (89610, 31307)
    """
    image = len(input_shape) == 3
    if kind == "resnet" and not image:
        raise UsageError(f"A resnet needs images [channels, height, width]; the inputs have shape {list(input_shape)}.")
    if kind == "resnet" or (kind == "auto" and image and min(input_shape[1:]) >= SMALLEST_IMAGE):
        return ResNet(input_shape, classes)
    return MLP(input_shape, classes, hidden)
