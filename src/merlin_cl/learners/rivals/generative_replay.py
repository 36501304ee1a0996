"""`generative-replay`: examples of earlier tasks are generated rather than kept."""

from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.generative_replay_settings import GenerativeReplaySettings
from merlin_cl.learners.rivals.input_generator import InputGenerator, checked
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State


class GenerativeReplay(NetworkLearner[GenerativeReplaySettings]):
    """Deep generative replay (Shin et al. 2017, "Continual learning with deep generative replay").

    Beside the classifier a generator learns what inputs look like. When a task begins both are copied; while it is learned,
    the copied generator makes inputs, the copied classifier labels them, and both networks learn from arriving and
    made examples, weighed 1 to k - 1 at task k. Deviations: a variational autoencoder for a GAN, as is usual since van de
    Ven and Tolias (2018); one pass, with several steps of the generator on each batch.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'generative-replay', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '20 %'
    """

    def __init__(self, stream: StreamInfo, settings: GenerativeReplaySettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._inputs = InputGenerator(stream, settings, self.generator("generator"), self.device)
        self._old_inputs = InputGenerator(stream, settings, self.generator("replay"), self.device)
        self._old_classifier = Bank(self.network, self.bank.weights.clone())

    def _begin(self, task: TaskInfo) -> None:
        self._old_inputs.bank.weights.copy_(self._inputs.bank.weights)
        self._old_classifier.weights.copy_(self.bank.weights)

    def _observe(self, x: Tensor, y: Tensor) -> None:
        x = checked(x, self.settings)
        super()._observe(x, y)
        with self.phases.timed("generator"):
            for _ in range(self.settings.generator_updates):
                made = self._made()
                shares = torch.cat([self._shares(x, 1), self._shares(made, len(self.tasks) - 1)])
                self._inputs.learn(torch.cat([x, made]), shares)

    def _update(self, x: Tensor, y: Tensor) -> None:
        made, new = self._made(), 1 / len(self.tasks)
        labels = self._labels(made)
        logits, of_made = self.forward(torch.cat([x, made])).split([len(x), len(made)])
        self.descend(new * self.cross_entropy(logits, y) + (1 - new) * self.cross_entropy(of_made, labels))

    def _made(self) -> Tensor:
        """Inputs as those of earlier tasks; none in the first task."""
        return self._old_inputs.sample(self.settings.replay if len(self.tasks) > 1 else 0)

    def _labels(self, made: Tensor) -> Tensor:
        """What the classifier took them for before the task."""
        old = self._allowed([{label for task in self.tasks[:-1] for label in task.classes}])[0]
        return self._old_classifier.logits(made)[0].masked_fill(~old, MASKED).argmax(dim=1)

    @staticmethod
    def _shares(x: Tensor, weight: float) -> Tensor:
        """The same share for each of x, `weight` in all."""
        return torch.full((len(x),), weight / max(len(x), 1), device=x.device)

    def _state(self) -> State:
        return {
            **super()._state(),
            "inputs": self._inputs.state(),
            "old_inputs": self._old_inputs.state(),
            "old_classifier": self._old_classifier.weights.clone(),
        }

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._inputs.restore(state["inputs"])
        self._old_inputs.restore(state["old_inputs"])
        self._old_classifier.weights.copy_(state["old_classifier"])

    def _widened(self, state: State, narrow: Self) -> State:
        old = self._head_growth(narrow).rows(state["old_classifier"], self.bank.weights)
        return {**super()._widened(state, narrow), "old_classifier": old}

    def stored_bytes(self) -> dict[str, int]:
        """Both networks and their optimisers; within a task also both as they were before."""
        generator = self._inputs.stored_bytes
        return {
            **super().stored_bytes(),
            "generator": 3 * generator,
            "previous": generator + 4 * self.network.size if self.learning else 0,
        }

    def parameters(self) -> dict[str, int]:
        """Weights of the classifier and of the generator."""
        return {**super().parameters(), "generator": self._inputs.vae.size}
