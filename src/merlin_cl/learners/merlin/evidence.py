"""Which task and which of its classes a vector comes from, as the means of classes tell it; beside what the tasks' models say.

A network that never met a class has no opinion on it, and on tables this is where `marginal` inference went wrong: of 30 classes
it had 96 % right where the task was known and 71 % where it was not. And of embeddings a small network that sees a few dozen
examples a class learns less than their means and one covariance know. These forget nothing, cost a few kilobytes, and err in
other places than networks do.
"""

import torch
from torch import Tensor

from merlin_cl.learners.class_statistics import ClassStatistics
from merlin_cl.protocol import TaskInfo
from merlin_cl.tensors import MASKED, State

WIDEST = 256
"""Numbers that an input is judged by; of more, so many random sums."""
SHRINKAGE = 0.02
"""Share of the identity in the covariance, in units of a number's variance."""
OF_TASKS, OF_CLASSES = 0.5, 0.3
"""How much class means have to say beside networks, 0 to 1: of whose task an input is, and of which of its classes. Chosen, like
`SHRINKAGE`, on held-out rows of tables and embeddings."""
LEAST = 1e-12
"""The least share of a task, so that neither side rules a task out for good."""


class ClassEvidence:
    """Class means of all that has passed, and one covariance."""

    def __init__(self, classes: int, width: int, generator: torch.Generator, device: torch.device) -> None:
        self._projection: Tensor | None = None  # [width, WIDEST], which the seed regenerates
        if width > WIDEST:
            self._projection = (torch.randn(width, WIDEST, generator=generator).double() / WIDEST**0.5).to(device)
        self._statistics = ClassStatistics(classes, min(width, WIDEST), device)
        self._discriminant: tuple[Tensor, Tensor] | None = None  # directions [width, classes] and offsets [classes]

    def _features(self, x: Tensor) -> Tensor:
        return x.double() if self._projection is None else x.double() @ self._projection

    def take(self, x: Tensor, y: Tensor) -> None:
        """Sum up examples x [N, width], y [N]."""
        self._statistics.take(self._features(x), y)
        self._discriminant = None

    def scores(self, x: Tensor) -> Tensor:
        """log p(y | x) as class means have it, [N, classes]."""
        if self._discriminant is None:
            self._discriminant = self._fitted()
        directions, offsets = self._discriminant
        return (self._features(x) @ directions + offsets).log_softmax(dim=1)

    @staticmethod
    def of_tasks(shares: Tensor, scores: Tensor, tasks: list[TaskInfo]) -> Tensor:
        """p(t | x), [N, T], where networks give the shares [N, T]: the normalised weighted geometric mean of both."""
        own = torch.stack([scores[:, list(task.classes)].logsumexp(dim=1) for task in tasks], dim=1).exp()  # [N, T]
        said = OF_TASKS * own.clamp(min=LEAST).log() + (1 - OF_TASKS) * shares.double().clamp(min=LEAST).log()
        return said.softmax(dim=1).to(shares.dtype)

    @staticmethod
    def of_classes(answer: Tensor, scores: Tensor) -> Tensor:
        """log p(y | x, t), [..., N, classes], where networks give the answer, logarithms too: their weighted mean, normalised.

        Classes that the answer masks stay masked.
        """
        said = (1 - OF_CLASSES) * answer.double() + OF_CLASSES * scores
        return said.masked_fill(answer <= MASKED, MASKED).log_softmax(dim=-1).clamp(min=MASKED).to(answer.dtype)

    def _fitted(self) -> tuple[Tensor, Tensor]:
        """The discriminant; a class without examples is out of the question."""
        kept = self._statistics
        covariance = kept.scatter / kept.counts.sum().clamp(min=1)
        identity = torch.eye(len(covariance)).to(covariance)
        usual = covariance.diagonal().mean().clamp(min=LEAST)
        covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * usual * identity
        directions: Tensor = torch.linalg.solve(covariance, kept.means.T)
        offsets = -(kept.means.T * directions).sum(dim=0) / 2
        return directions, offsets.masked_fill(kept.counts == 0, -1e30)

    def state(self) -> State:
        """All that has been summed up."""
        return self._statistics.state()

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self._statistics.restore(state)
        self._discriminant = None

    def widened(self, state: State) -> State:
        """The state of evidence on fewer classes, for this one."""
        return {**state, **self._statistics.widened(state)}

    @property
    def stored_bytes(self) -> int:
        """Means and covariance."""
        return self._statistics.stored_bytes
