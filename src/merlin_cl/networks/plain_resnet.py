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
    """A first 3x3 convolution, stages of basic blocks, the mean over all pixels, a linear head."""

    def __init__(self, inputs: int, classes: int, maps: Sequence[int], blocks_per_stage: int = 1) -> None:
        super().__init__()
        self.stem = ConvolutionNorm(inputs, maps[0], 3, 1)
        blocks: list[BasicBlock] = []
        before = maps[0]
        for stage, outputs in enumerate(maps):
            for place in range(blocks_per_stage):
                blocks.append(BasicBlock(before, outputs, 2 if stage > 0 and place == 0 else 1))
                before = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(before, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits [N, classes] for x [N, inputs, H, W]."""
        logits: Tensor = self.head(self.blocks(self.stem(x).relu()).mean(dim=(2, 3)))
        return logits
