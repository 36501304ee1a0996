"""`ewc`: weights that mattered to earlier tasks are held in place."""

from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.ewc_settings import EWCSettings
from merlin_cl.networks.network import Network
from merlin_cl.networks.per_example import squared_gradients
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.tensors import State, as_float


class EWC(NetworkLearner[EWCSettings]):
    """Elastic weight consolidation (Kirkpatrick et al. 2017, "Overcoming catastrophic forgetting in neural networks").

    After task k the penalty strength/2 * sum_i F_ki (w_i - w_ki)^2 is added, F_k being the diagonal of the Fisher information
    at the weights w_k. A sum of such quadratics is one quadratic around their weighted mean, so that what is stored does
    not grow with tasks, and nothing is approximated by it. The online form (Schwarz et al. 2018, "Progress & compress") has one
    penalty, around the newest weights; `decay` is their gamma.

    Online, a task's examples are gone when it ends: the Fisher information is that of a reservoir of them, which is then
    dropped (as in the paper's adaptation, which follows Lopez-Paz and Ranzato 2017). It is exact for these examples: squared
    gradients of single examples, not of their mean. The default of `strength` is ours, from a search on
    Permuted MNIST.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'ewc', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '28 %'
    """

    def __init__(self, stream: StreamInfo, settings: EWCSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._draws = self.generator("exemplars")
        self.memory = self._empty_memory()
        self.importance = torch.zeros(self.network.size, device=self.device)  # [P], sum of F_k
        self.anchor = torch.zeros(self.network.size, device=self.device)  # [P], mean of w_k weighted by F_k

    def _empty_memory(self) -> ExemplarMemory:
        return ExemplarMemory(
            self.settings.exemplars, self.settings.exemplar_choice, self.stream.input_shape, self._draws, self.device
        )

    def _begin(self, task: TaskInfo) -> None:
        self.memory = self._empty_memory()

    def _observe(self, x: Tensor, y: Tensor) -> None:
        super()._observe(x, y)
        self.memory.offer(x, y, self.tasks[-1].index)

    def _update(self, x: Tensor, y: Tensor) -> None:
        gradient = self.gradient(self.cross_entropy(self.forward(x), y))
        gradient += self.settings.strength * self.importance * (self.bank.weights[0] - self.anchor)
        self.training.update()

    def _end(self) -> None:
        with self.phases.timed("consolidate"):
            labels = self.memory.y if self.settings.fisher == "labels" else None
            weights = self.bank.weights[0]
            if len(self.memory):
                fisher = fisher_diagonal(self.network, weights, as_float(self.memory.x), self.competing, labels)
                self._hold(weights, fisher)
            self.memory = self._empty_memory()

    def _hold(self, weights: Tensor, fisher: Tensor) -> None:
        """Add a task's penalty."""
        if self.settings.online:
            self.importance = self.settings.decay * self.importance + fisher
            self.anchor = weights.clone()
        else:
            self.importance = self.importance + fisher
            share = fisher / self.importance.clamp(min=1e-30)
            self.anchor = self.anchor + share * (weights - self.anchor)

    def _state(self) -> State:
        held = {"importance": self.importance.clone(), "anchor": self.anchor.clone()}
        return {**super()._state(), **held, "memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.importance, self.anchor = state["importance"].clone(), state["anchor"].clone()
        self.memory.restore(state["memory"])

    def _widened(self, state: State, narrow: Self) -> State:
        head = self._head_growth(narrow)
        held = {name: head.rows(state[name]) for name in ("importance", "anchor")}
        return {**super()._widened(state, narrow), **held}

    def stored_bytes(self) -> dict[str, int]:
        """The network and its optimiser, importances and what they hold to, and, within a task, its exemplars."""
        held = {"importance": 4 * self.network.size, "anchor": 4 * self.network.size}
        return {**super().stored_bytes(), **held, "exemplars": self.memory.stored_bytes}


def fisher_diagonal(
    network: Network, weights: Tensor, x: Tensor, allowed: Tensor, labels: Tensor | None = None
) -> Tensor:
    """The mean over inputs x [n, *input_shape] of squared gradients of the log-likelihood, [P].

    Expected over the model's own answers among the classes `allowed`, or at the labels [n] if they are given.
    """
    with torch.no_grad():
        logits = network.apply(weights.unsqueeze(0), x.unsqueeze(0))[0]
    probability = logits.masked_fill(~allowed, -torch.inf).softmax(dim=1)  # [n, classes]
    certain = torch.eye(len(allowed), dtype=x.dtype, device=x.device)  # [y, classes]
    if labels is None:
        chance = probability[:, allowed].sqrt().unsqueeze(2)  # squares will weigh as much as they are probable
        slopes = chance * (probability.unsqueeze(1) - certain[allowed])  # [n, y, classes]
    else:
        slopes = (probability - certain[labels]).unsqueeze(1)
    return squared_gradients(network, weights, x, slopes) / len(x)
