"""Data sets of which each example is an image file."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from merlin_cl.inputs.pictures import read_images
from merlin_cl.streams.datasets.dataset import Part, PartName, division


class PictureFiles(Part):
    """Examples of which each is an image file."""

    def __init__(self, files: Sequence[Path], labels: Sequence[int]) -> None:
        super().__init__(torch.tensor(labels, dtype=torch.int64))
        self.files = tuple(files)

    def divided(self, share: int, part: PartName) -> "PictureFiles":
        """One part of a set published as a whole: of each class the last 1/share is for testing."""
        at = division(self.labels, share, part).tolist()
        return PictureFiles([self.files[position] for position in at], self.labels[at].tolist())

    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The images at the positions `at`, decoded."""
        return read_images([self.files[position] for position in at.tolist()], shape)
