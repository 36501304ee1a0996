"""`der` and `der++`: replay of what the network said when it first saw an example."""

from typing import Self, TypeVar

from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.network_learner import Part
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
        learn = self._cross_entropy(y)

        def arriving(logits: Tensor) -> Tensor:
            if self._at_sight is None:
                self._at_sight = logits.detach().clone()
            return learn(logits)

        self._descend((x, arriving), *self._replayed())

    def _replayed(self) -> list[Part]:
        """Exemplars, and what it costs not to answer as at first sight."""
        places = self._drawn(self.settings.replay)
        if len(places) == 0:
            return []
        notes = rows(self.memory.notes, places)  # [n, classes]
        return [
            (self._exemplars_at(places)[0], lambda logits: self.settings.alpha * functional.mse_loss(logits, notes))
        ]

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

    def _replayed(self) -> list[Part]:
        places = self._drawn(self.settings.replay)
        x, y = self._exemplars_at(places)
        learn = self._cross_entropy(y)
        return [*super()._replayed(), (x, lambda logits: self.settings.beta * learn(logits))]
