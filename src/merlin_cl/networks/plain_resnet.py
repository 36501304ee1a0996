"""The ResNet of one member as a plain `torch.nn` module: to take away, and to test the bank against."""

from collections.abc import Sequence

from torch import Tensor, nn


class ConvolutionNorm(nn.Module):
    """A convolution without bias, then batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """[N, inputs, H, W] to [N, outputs, H / stride, W / stride]."""
        normalised: Tensor = self.norm(self.convolution(x))
        return normalised


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is a 1x1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = ConvolutionNorm(inputs, outputs, 3, stride)
        self.second = ConvolutionNorm(outputs, outputs, 3, 1)
        changes = stride != 1 or inputs != outputs
        self.shortcut = ConvolutionNorm(inputs, outputs, 1, stride) if changes else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """[N, inputs, H, W] to [N, outputs, H / stride, W / stride]."""
        summed: Tensor = self.second(self.first(x).relu()) + self.shortcut(x)
        return summed.relu()


class PlainResNet(nn.Module):
    """A first 3x3 convolution, one basic block a stage, the mean over all pixels, a linear head."""

    def __init__(self, inputs: int, classes: int, maps: Sequence[int]) -> None:
        super().__init__()
        self.stem = ConvolutionNorm(inputs, maps[0], 3, 1)
        before = [maps[0], *maps[:-1]]
        self.stages = nn.Sequential(
            *(BasicBlock(a, b, 1 if stage == 0 else 2) for stage, (a, b) in enumerate(zip(before, maps, strict=True)))
        )
        self.head = nn.Linear(maps[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits [N, classes] for x [N, inputs, H, W]."""
        logits: Tensor = self.head(self.stages(self.stem(x).relu()).mean(dim=(2, 3)))
        return logits
