"""Pictures changed a little each time they are learned from, so that few of them go further."""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.ensemble_settings import Augmentation

LARGEST_SHIFT = 2
"""Pixels, to either side."""


def augmented(x: Tensor, augmentation: Augmentation, generator: torch.Generator) -> Tensor:
    """Pictures x [..., C, H, W], each moved by a random number of pixels (edges repeat) and perhaps mirrored."""
    if augmentation == "none":
        return x
    pictures = x.reshape(-1, *x.shape[-3:])
    down, right = torch.randint(2 * LARGEST_SHIFT + 1, (2, len(pictures), 1), generator=generator).to(x.device)
    rows = down + torch.arange(x.shape[-2], device=x.device)  # [n, H]: where each row is taken from
    columns = right + torch.arange(x.shape[-1], device=x.device)
    if augmentation == "shifts-and-mirrors":
        mirrored = torch.rand(len(pictures), 1, generator=generator).to(x.device) < 0.5
        columns = torch.where(mirrored, columns.flip(1), columns)
    padded = functional.pad(pictures, [LARGEST_SHIFT] * 4, mode="replicate").movedim(1, -1)  # [n, H + 4, W + 4, C]
    each = torch.arange(len(pictures), device=x.device)[:, None, None]
    return padded[each, rows[:, :, None], columns[:, None, :]].movedim(-1, 1).reshape(x.shape)
