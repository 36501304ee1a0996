"""`lwf`: new examples are answered on old classes as before."""

from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.lwf_settings import LwFSettings
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State


class LwF(NetworkLearner[LwFSettings]):
    """Learning without forgetting (Li and Hoiem 2018).

    A new task is learned among its own classes; on its examples, the answers on old classes are distilled from the network
    as it was when the task began. Weight 1 and temperature 2 are the paper's. Deviations: a single pass, so that there is no
    warm-up of new outputs; old classes are one group, not one a task, since the task is not known when asked.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'lwf', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '44 %'
    """

    def __init__(self, stream: StreamInfo, settings: LwFSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._before = Bank(self.network, self.bank.weights.clone())  # the network as it was when the task began

    def _begin(self, task: TaskInfo) -> None:
        self._before.weights.copy_(self.bank.weights)

    def _update(self, x: Tensor, y: Tensor) -> None:
        logits = self.forward(x)
        loss = self.cross_entropy(logits, y, self.mask_of(self.tasks[-1].classes))
        old = sorted({label for earlier in self.tasks[:-1] for label in earlier.classes})
        if old:
            before, temperature = self._before.logits(x)[0], self.settings.temperature
            loss = loss + self.settings.strength * distillation(logits, before, self.mask_of(old), temperature)
        self.descend(loss)

    def _state(self) -> State:
        return {**super()._state(), "before": self._before.weights.clone()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._before.weights.copy_(state["before"])

    def _widened(self, state: State, narrow: Self) -> State:
        before = self._head_growth(narrow).rows(state["before"], self.bank.weights)
        return {**super()._widened(state, narrow), "before": before}

    def stored_bytes(self) -> dict[str, int]:
        """The network, its optimiser, and within a task the network as it was before."""
        return {**super().stored_bytes(), "previous_classifier": 4 * self.network.size if self.learning else 0}


def distillation(logits: Tensor, before: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    """The mean cross-entropy between softened answers before and now, [N, classes] each, among the classes `allowed`.

    Not scaled by the squared temperature, as the paper has it.
    """
    targets = (before.masked_fill(~allowed, MASKED) / temperature).softmax(dim=1)
    now = functional.log_softmax(logits.masked_fill(~allowed, MASKED) / temperature, dim=1)
    return -torch.where(allowed, targets * now, 0).sum(dim=1).mean()
