"""A method of a few lines for tests of runs: class means with noise, so that its random state matters."""

import time
from dataclasses import dataclass
from typing import ClassVar

import torch

from merlin_cl.learners import registry
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.tensors import MASKED, as_float


@dataclass(frozen=True)
class MeansSettings(MethodSettings):
    """The nearest mean of a class, with noise."""

    method: ClassVar[str] = "means"
    learner: ClassVar[str] = f"{__name__}:Means"

    exemplars: int = 7
    """Exemplars in all."""
    updates_per_batch: int = 1
    """Updates on each batch."""
    noise: float = 0.1
    """Standard deviation of the noise added to every input."""
    sleep: float = 0.0
    """Seconds to wait at every batch."""
    ballast: int = 0
    """Megabytes added to the state, so that writing it takes a while."""
    shape: tuple[int, ...] = (3, 4)
    """Nothing, but a tuple."""

    def __post_init__(self):
        self.require_at_least(1, "exemplars", "updates_per_batch")


class Means(Learner[MeansSettings]):
    inferences = ("aggregate", "aware")

    def __init__(self, *arguments):
        super().__init__(*arguments)
        size = torch.Size(self.stream.input_shape).numel()
        self.sums = torch.zeros(self.stream.classes, size)
        self.counts = torch.zeros(self.stream.classes, 1)
        self.random = self.generator("noise")
        self.observed = 0  # of the last task; as MERLIN's base models, not part of the state once a task has ended

    def _begin(self, task):
        self.observed = 0

    def _observe(self, x, y):
        time.sleep(self.settings.sleep)
        self.observed += len(y)
        x = as_float(x).flatten(1)
        x = x + self.settings.noise * torch.randn(x.shape, generator=self.random)
        self.sums.index_add_(0, y, x)
        self.counts.index_add_(0, y, torch.ones(len(y), 1))

    def _end(self):
        with self.phases.timed("base"):
            self.sums *= 1 + 0.01 * torch.rand(self.sums.shape)  # torch's own random numbers: reseeded for every task

    def _answers(self, x, allowed, task, inference):
        assert (task is not None) == (inference == "aware")
        distances = torch.cdist(as_float(x).flatten(1), self.sums / self.counts.clamp(min=1))
        return torch.stack([(-distances).masked_fill(~row, MASKED) for row in allowed])

    def _state(self):
        ballast = torch.zeros(self.settings.ballast * 2**20, dtype=torch.uint8)
        return {"sums": self.sums, "counts": self.counts, "random": self.random.get_state(), "ballast": ballast}

    def _restore(self, state):
        self.sums, self.counts = state["sums"], state["counts"]
        self.random.set_state(state["random"])

    def stored_bytes(self):
        return {"means": self.sums.nbytes + self.counts.nbytes}

    def parameters(self):
        return {"means": self.sums.numel()}

    def probe(self, task, x, y):
        figures = {"spread": float(self.sums[list(self.tasks[task].classes)].std()), "images": float(len(y))}
        return figures | ({"observed": self.observed} if self.observed and task == len(self.tasks) - 1 else {})


@dataclass(frozen=True)
class QuietSettings(MeansSettings):
    """The same without probes and inference modes."""

    method: ClassVar[str] = "quiet"
    learner: ClassVar[str] = f"{__name__}:Quiet"


class Quiet(Means):
    inferences = (None,)
    probe = None


def register():
    registry.BUILT_IN["means"] = f"{__name__}:MeansSettings"
    registry.BUILT_IN["quiet"] = f"{__name__}:QuietSettings"


if __name__ == "__main__":  # `python fakes.py run ...` is the command with the methods above
    import signal

    from merlin_cl.cli import main

    # A shell that starts the tests in the background has them ignore Ctrl-C, and their children inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    register()
    main()
