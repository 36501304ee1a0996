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
    down, right = torch.randint(2 * LARGEST_SHIFT + 1, (2, len(pictures), 1), generator=generator)
    mirrored = torch.zeros(len(pictures), 1, dtype=torch.bool)
    if augmentation == "shifts-and-mirrors":
        mirrored = torch.rand(len(pictures), 1, generator=generator) < 0.5
    if x.device.type == "cpu":
        return _moved_by_machine_code(pictures, down, right, mirrored).view(x.shape)
    return moved(pictures, down.to(x.device), right.to(x.device), mirrored.to(x.device)).reshape(x.shape)


def moved(pictures: Tensor, down: Tensor, right: Tensor, mirrored: Tensor) -> Tensor:
    """Pictures [n, C, H, W] cut from ones with wider edges, at `down` and `right` [n, 1], then mirrored where it says so."""
    rows = down + torch.arange(pictures.shape[-2], device=pictures.device)  # [n, H]: where each row is taken from
    columns = right + torch.arange(pictures.shape[-1], device=pictures.device)
    columns = torch.where(mirrored, columns.flip(1), columns)
    padded = functional.pad(pictures, [LARGEST_SHIFT] * 4, mode="replicate").movedim(1, -1)  # [n, H + 4, W + 4, C]
    each = torch.arange(len(pictures), device=pictures.device)[:, None, None]
    return padded[each, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)


def _moved_by_machine_code(pictures: Tensor, down: Tensor, right: Tensor, mirrored: Tensor) -> Tensor:
    """The same as `moved`, many times as fast."""
    from merlin_cl.learners.compiled_augmentation import move

    result = torch.empty_like(pictures, memory_format=torch.contiguous_format)
    below, beside = ((places - LARGEST_SHIFT).flatten().numpy() for places in (down, right))
    move(result.numpy(), pictures.contiguous().numpy(), below, beside, mirrored.flatten().numpy())
    return result


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
