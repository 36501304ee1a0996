"""`der` and `der++`: replay of what the network said when it first saw an example."""

from typing import Self, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.der_settings import DERPlusPlusSettings, DERSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, rows

Settings = TypeVar("Settings", bound=DERSettings)


class DER(ReplayLearner[Settings]):
    """Dark experience replay (Buzzega et al. 2020, "Dark experience for general continual learning").

    An exemplar is kept with the logits that it had when it arrived, before it was learned from; the network is to give them
    again, by mean squared error. Batches of 10 and 10 are theirs for Split MNIST. Deviations: Adam rather than plain descent,
    and with it `alpha` 1, theirs for Permuted MNIST, where they have 0.2 for Split MNIST; classes not seen yet take no part in
    the cross-entropy.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'der', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '45 %'
    """

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._at_sight: Tensor | None = None  # logits [N, classes] of the arriving batch before its first update

    def _update(self, x: Tensor, y: Tensor) -> None:
        places = self.drawn(self.settings.replay)
        old_x, _ = self.exemplars_at(places)
        logits, old_logits = self.forward(torch.cat([x, old_x])).split([len(x), len(old_x)])
        self._note(logits)
        self.descend(self.cross_entropy(logits, y) + self._dark_loss(old_logits, places))

    def _note(self, logits: Tensor) -> None:
        """Remember what the network said of arriving examples, if it sees them for the first time."""
        if self._at_sight is None:
            self._at_sight = logits.detach().clone()

    def _dark_loss(self, logits: Tensor, places: Tensor) -> Tensor:
        """What it costs that exemplars are not answered as at first sight, logits [n, classes]; of none, 0."""
        if len(places) == 0:
            return logits.sum()
        return self.settings.alpha * functional.mse_loss(logits, rows(self.memory.notes, places))

    def _remember(self, x: Tensor, y: Tensor) -> None:
        self.memory.offer(x, y, self.tasks[-1].index, self._at_sight)
        self._at_sight = None

    def _widened(self, state: State, narrow: Self) -> State:
        grown = super()._widened(state, narrow)
        if "notes" in grown["memory"]:  # of outputs that were not there, nothing was said
            more = (0, self.stream.classes - narrow.stream.classes)
            grown["memory"] = {**grown["memory"], "notes": functional.pad(grown["memory"]["notes"], more)}
        return grown


class DERPlusPlus(DER[DERPlusPlusSettings]):
    """DER and, on exemplars of another draw, the labels (same paper). `alpha` and `beta` are theirs for Split MNIST.

    Deviations: as `der`; 10 exemplars a draw, as for the other methods, where theirs are 128.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'der++', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '89 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        other_x, other_y = self.replayed()
        places = self.drawn(self.settings.replay)
        old_x, _ = self.exemplars_at(places)
        parts = [x, old_x, other_x]
        logits, old_logits, other_logits = self.forward(torch.cat(parts)).split([len(part) for part in parts])
        self._note(logits)
        loss = self.cross_entropy(logits, y) + self._dark_loss(old_logits, places)
        self.descend(loss + self.settings.beta * self.cross_entropy(other_logits, other_y))
