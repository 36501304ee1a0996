"""`joint`: all data of all tasks at once. The ceiling, and no continual learner."""

import torch
from torch import Tensor

from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.joint_settings import JointSettings
from merlin_cl.networks.bank import Training
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, as_float, rows


class Joint(NetworkLearner[JointSettings]):
    """Keeps every example and, when a task ends, trains a fresh network on all of them, pass after pass.

    It breaks the memory rule by design, to show what a method with this network could reach at most; `stored_bytes` says what
    that takes. Within a task it answers as it did before the task.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'joint', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '93 %'
    """

    def __init__(self, stream: StreamInfo, settings: JointSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._x = torch.zeros(0, *stream.input_shape, device=self.device)  # all inputs so far, in the dtype they have
        self._y = torch.zeros(0, dtype=torch.int64, device=self.device)

    def _observe(self, x: Tensor, y: Tensor) -> None:
        self._x = torch.cat([self._x.to(x.dtype), x])
        self._y = torch.cat([self._y, y])

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(x, y)

    def _end(self) -> None:
        settings, task, count = self.settings, len(self.tasks), len(self._y)
        self.bank.weights.copy_(self.network.initial(1, self.generator("initial", task)))
        self.training = Training(
            self.bank, settings.learning_rate, settings.weight_decay, decoupled=False, optimiser=settings.optimiser
        )
        order = self.generator("order", task)
        with self.phases.timed("base"):
            for _ in self.phases.steps("base", range(settings.epochs), settings.epochs):
                for places in torch.randperm(count, generator=order).to(self.device).split(settings.batch):
                    self._update(self.augmented(as_float(rows(self._x, places))), self._y[places])

    def _state(self) -> State:
        return {**super()._state(), "x": self._x.clone(), "y": self._y.clone()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._x, self._y = state["x"].clone(), state["y"].clone()

    def stored_bytes(self) -> dict[str, int]:
        """The network, and every example there was: inputs and a byte for each label."""
        examples = self._x.numel() * self._x.element_size() + len(self._y)
        return {"classifier": 4 * self.network.size, "all_examples": examples}
