"""`der` and `der++`: replay of what the network said when it first saw an example."""

from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.der_settings import DERSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, rows


class DER(ReplayLearner[DERSettings]):
    """Dark experience replay (Buzzega et al. 2020, "Dark experience for general continual learning").

    An exemplar is kept with the logits that it had when it arrived, before it was learned from; the network is to give them
    again, by mean squared error. DER++ learns the labels of another draw of exemplars as well, with the weight `beta`. Batches of
    10 and 10 are theirs for Split MNIST, and so are `alpha` and `beta` of DER++. Deviations: Adam rather than plain descent, and
    with it `alpha` 1 for DER, theirs for Permuted MNIST, where they have 0.2 for Split MNIST; classes not seen yet take no part
    in the cross-entropy; DER++ draws 10 exemplars at a time, as other methods do, where theirs are 128.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'der', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '45 %'
    >>> f"{run('split-mnist', 'der++', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '89 %'
    """

    def __init__(self, stream: StreamInfo, settings: DERSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._at_sight: Tensor | None = None  # logits [N, classes] of the arriving batch before its first update

    def _update(self, x: Tensor, y: Tensor) -> None:
        labelled_x, labelled_y = self.replayed() if self.settings.label_weight else (x[:0], y[:0])
        places = self.drawn(self.settings.replay)
        old_x, _ = self.exemplars_at(places)

        parts = [x, old_x, labelled_x]
        logits, old_logits, labelled_logits = self.forward(torch.cat(parts)).split([len(part) for part in parts])
        if self._at_sight is None:
            self._at_sight = logits.detach().clone()

        loss = self.cross_entropy(logits, y)
        if len(places):
            loss = loss + self.settings.alpha * functional.mse_loss(old_logits, rows(self.memory.notes, places))
        if len(labelled_y):
            loss = loss + self.settings.label_weight * self.cross_entropy(labelled_logits, labelled_y)
        self.descend(loss)

    def _remember(self, x: Tensor, y: Tensor) -> None:
        self.memory.offer(x, y, self.tasks[-1].index, self._at_sight)
        self._at_sight = None

    def _widened(self, state: State, narrow: Self) -> State:
        grown = super()._widened(state, narrow)
        if "notes" in grown["memory"]:  # of outputs that were not there, nothing was said
            more = (0, self.stream.classes - narrow.stream.classes)
            grown["memory"] = {**grown["memory"], "notes": functional.pad(grown["memory"]["notes"], more)}
        return grown
