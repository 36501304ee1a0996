"""`mkd`: replay that also learns from a slowly moving mean of itself."""

from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.mkd_settings import MKDSettings
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, StreamInfo
from merlin_cl.tensors import MASKED, State, as_float


class MKD(ReplayLearner[MKDSettings]):
    """Momentum knowledge distillation (Michel et al. 2024, "Rethinking momentum knowledge distillation in online continual
    learning"), around experience replay.

    A teacher is the running mean of the network's weights. With every update the network learns labels by cross-entropy and the
    teacher's softened answers on the same inputs, arriving ones and exemplars. The mean of both networks' weights
    answers.

    One teacher, its rate of 0.01, a weight of 5.5 and a temperature of 4 are theirs. Deviations: the teacher starts from the
    initial weights, where theirs starts near zero; the network sees each input once, where theirs sees it with and without
    augmentation; unseen classes are masked in both losses.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'mkd', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '93 %'
    """

    def __init__(self, stream: StreamInfo, settings: MKDSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._teacher = Bank(self.network, self.bank.weights.clone())

    def _update(self, x: Tensor, y: Tensor) -> None:
        x, y = self.with_replay(x, y)
        told, logits = self._teacher.logits(x)[0], self.forward(x)
        distilled = divergence(logits, told, self.competing, self.settings.temperature)
        self.descend(self.cross_entropy(logits, y) + self.settings.strength * distilled)
        self._teacher.weights.lerp_(self.bank.weights, self.settings.teacher_rate)

    @property
    def _both(self) -> Bank:
        """The mean of both networks' weights."""
        return Bank(self.network, (self.bank.weights + self._teacher.weights) / 2)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The network that answers."""
        self.require_one_model(models)
        return self._both

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._both.logits(as_float(x)), allowed, "sum-logits")

    def _state(self) -> State:
        return {**super()._state(), "teacher": self._teacher.weights.clone()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._teacher.weights.copy_(state["teacher"])

    def _widened(self, state: State, narrow: Self) -> State:
        teacher = self._head_growth(narrow).rows(state["teacher"], self.bank.weights)
        return {**super()._widened(state, narrow), "teacher": teacher}

    def stored_bytes(self) -> dict[str, int]:
        """Those of `er`, and the teacher."""
        return {**super().stored_bytes(), "teacher": 4 * self.network.size}


def divergence(logits: Tensor, told: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    """The mean divergence (Kullback and Leibler's) of softened answers from those of a teacher, [N, classes] each.

    Times the squared temperature, so that gradients are of one size whatever it is. Classes outside `allowed` take no part.
    """
    teacher, student = (
        functional.log_softmax(each.masked_fill(~allowed, MASKED) / temperature, dim=1) for each in (told, logits)
    )
    return temperature**2 * torch.where(allowed, teacher.exp() * (teacher - student), 0).sum(dim=1).mean()
