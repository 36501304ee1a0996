"""What t is: the vector of a task that the prior is a function of, given by the stream or computed from exemplars.

With vectors that say what a task is about, models can be sampled for a task that was never learned.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.learner import as_float
from merlin_cl.learners.merlin.inference import MerlinInference
from merlin_cl.learners.merlin.task2vec import WIDTH, task2vec
from merlin_cl.learners.merlin.unseen import Blend, linear_prior, mixture, nearness
from merlin_cl.learners.merlin.vae import Gaussian
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import TaskInfo


class DescribedTasks(MerlinInference):
    """The part of MERLIN that knows what tasks are called, and what that says of one not seen yet."""

    def _task_vector(self, task: TaskInfo) -> Tensor:
        """t: the descriptor, or one-hot."""
        if task.descriptor is not None:
            return torch.tensor(task.descriptor, dtype=torch.float32, device=self.device)
        return functional.one_hot(torch.tensor(task.index), self.stream.tasks).float().to(self.device)

    def _descriptor_width(self) -> int:
        """Numbers in a task vector: the first task tells where the stream describes its tasks."""
        if self.settings.descriptor == "task2vec":
            return WIDTH
        return self._task_vector(self.tasks[0]).numel() if self.tasks else self.stream.tasks

    def _check_descriptor(self, task: TaskInfo) -> None:
        """Refuse a task that is not described as the settings or earlier tasks have it, as if it had never begun."""
        problem = ""
        if self.settings.descriptor == "words" and task.descriptor is None:
            problem = "is missing, which descriptor words needs; describe the stream first (`describe_by_words`)"
        elif self.settings.descriptor != "task2vec" and self._task_vector(task).numel() != self._descriptor_width():
            problem = "is not as wide as that of task 0; give all the same width"
        elif task.descriptor is not None and not 0 < sum(number * number for number in task.descriptor) < float("inf"):
            problem = "is zero or not finite; give numbers that say something"
        if problem:
            self.tasks.pop()
            self.learning = False
            raise InputError(f"The descriptor of task {task.index} {problem}.")

    def _embedded(self, task: TaskInfo) -> TaskInfo:
        """The task with the embedding of its exemplars as descriptor: all that has arrived of it and been kept."""
        x, y = self.memory.of_task(task.index)
        if len(y) == 0:
            raise InputError(f"No exemplar of task {task.index} was kept, so it has no task2vec; allow more exemplars.")
        return replace(task, descriptor=tuple(task2vec(as_float(x), y).tolist()))

    def prior_of_unseen(self, descriptor: Sequence[float]) -> Gaussian:
        """p(z | t) of a task that was never learned: the mixture of known tasks that its descriptor is; see `unseen.py`."""
        known, wanted = self._described(descriptor)
        return linear_prior(self.distribution.priors, mixture(known, wanted))

    def sample_unseen(
        self, descriptor: Sequence[float], count: int | None = None, blend: Blend = "linear", x: Tensor | None = None
    ) -> Bank:
        """Models for a task that was never learned. Their features are made of those of known tasks; outputs of classes that
        no task had are as the seed made them, so they need examples before they answer.

        Running statistics come from x, inputs of the new task, or from all exemplars if there are none.
        """
        count = self.models if count is None else count
        if count < 1:
            raise UsageError(f"count is {count}; sample at least 1 model.")
        x = self.memory.x if x is None else self._checked_inputs(x)
        if blend == "linear":
            return self.sample(self.prior_of_unseen(descriptor), count, "unseen", x)
        known, wanted = self._described(descriptor)
        chosen = torch.multinomial(
            nearness(known, wanted), count, True, generator=self.generator("neighbours", len(known))
        )
        banks = [
            self.sample(prior, share, f"unseen {j}", x)
            for j, prior in enumerate(self.distribution.priors)
            if (share := int((chosen == j).sum()))
        ]
        return Bank(self.network, torch.cat([bank.weights for bank in banks]))

    def _described(self, descriptor: Sequence[float]) -> tuple[Tensor, Tensor]:
        """The descriptors of all tasks learned, [T, width], and a new one, checked, [width]."""
        learned = self.tasks[: len(self.distribution.priors)]
        if not learned:
            raise UsageError("No task has been learned yet; end() the first one before asking for an unseen one.")
        if learned[0].descriptor is None:
            raise UsageError("One-hot vectors say nothing of a task not seen yet; use descriptor words or task2vec.")
        known = torch.stack([self._task_vector(task) for task in learned])
        wanted = torch.tensor(descriptor, dtype=known.dtype, device=known.device)
        if wanted.shape != known[0].shape or not torch.isfinite(wanted).all():
            raise InputError(
                f"The descriptor of an unseen task must be {known.shape[1]} finite numbers, as those of others."
            )
        return known, wanted
