"""Pictures changed a little each time they are learned from, so that few of them go further."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import Augmentation
from merlin_cl.protocol import StreamInfo

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


def require_pictures(augmentation: Augmentation, stream: StreamInfo) -> None:
    """Refuse to move about what is no picture."""
    if augmentation != "none" and len(stream.input_shape) != 3:
        raise UsageError(
            f"augmentation is {augmentation}, but inputs of shape {stream.input_shape} are no pictures; use none."
        )


class Augmenter:
    """Augments what a network learns from as the stream passes; its draws are part of what a learner's state holds."""

    def __init__(self, augmentation: Augmentation, stream: StreamInfo, draws: torch.Generator) -> None:
        require_pictures(augmentation, stream)
        self._augmentation, self._draws = augmentation, draws

    def __call__(self, x: Tensor) -> Tensor:
        """Pictures x [N, C, H, W] as floats, each moved and perhaps mirrored in its own way."""
        return augmented(x, self._augmentation, self._draws)

    def state(self) -> dict[str, Any]:
        """The random state; nothing where nothing is drawn."""
        return {} if self._augmentation == "none" else {"augmentation": self._draws.get_state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave."""
        if "augmentation" in state:
            self._draws.set_state(state["augmentation"])
