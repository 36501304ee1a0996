"""`er-ema`: replay that answers with averaged weights."""

from typing import Self

from torch import Tensor

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.er_ema_settings import EREMASettings
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, StreamInfo
from merlin_cl.tensors import State, as_float


class EREMA(ReplayLearner[EREMASettings]):
    """ER that answers with a running mean of its weights (Soutif-Cormerais, Carta and van de Weijer 2023).

    The mean's decay grows to `averaging` with the number of updates, so that the initial weights are soon forgotten. The
    default of 0.99 suits streams of some hundred batches; nothing else differs from `er`.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'er-ema', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '74 %'
    """

    def __init__(self, stream: StreamInfo, settings: EREMASettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._mean = Bank(self.network, self.bank.weights.clone())
        self._updates = 0

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(*self.with_replay(x, y))
        self._updates += 1
        decay = min(self.settings.averaging, self._updates / (self._updates + 10))
        self._mean.weights.lerp_(self.bank.weights, 1 - decay)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The averaged network."""
        self.require_one_model(models)
        return Bank(self.network, self._mean.weights.clone())

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._mean.logits(as_float(x)), allowed, "sum-logits")

    def _state(self) -> State:
        return {**super()._state(), "mean": self._mean.weights.clone(), "updates": self._updates}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._mean.weights.copy_(state["mean"])
        self._updates = int(state["updates"])

    def _widened(self, state: State, narrow: Self) -> State:
        mean = self._head_growth(narrow).rows(state["mean"], self.bank.weights)
        return {**super()._widened(state, narrow), "mean": mean}

    def stored_bytes(self) -> dict[str, int]:
        """Those of `er`, and the averaged network."""
        return {**super().stored_bytes(), "averaged_classifier": 4 * self.network.size}
