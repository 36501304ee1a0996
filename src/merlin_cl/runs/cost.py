"""What the runs of a grid cost: what finished ones took, carried over to others by how much there is to do in each.

Runs of one kind, which differ in their seed alone, take about as long. Of a kind that nothing is known of, the nearest that is
known serves: the same method on the same stream, the same method, the same stream, any run; scaled by `work`, which is rough, but
knows that thirty models cost more than one, and photographs more than digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable

from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.jobs import Job

CONVOLUTIONS = 5.0
"""Multiplications for a number of an input that convolutions see, beside one that a fully connected network sees."""
LARGE = 32
"""Pixels a side from which on networks have convolutions."""
ALL_IMAGES = 10_000
"""Examples that a task has where it takes all there are, roughly: nobody has read the data yet."""
EVALUATION = 1 / 6
"""An answer costs a third of a training step, and half of all tasks are asked about on average."""

LIKENESS: tuple[Callable[[Job], Hashable], ...] = (
    lambda job: job.kind,
    lambda job: (job.config.method.method, job.config.stream),
    lambda job: job.config.method.method,
    lambda job: job.config.stream,
    lambda job: None,
)
"""What runs have in common that serve for each other, the nearest first."""


def work(config: RunConfig) -> float:
    """How much there is to do in a run, in training steps of one network on one number of an input, roughly.

    >>> from merlin_cl.learners.registry import method_settings
    >>> from merlin_cl.streams.registry import stream_settings
    >>> def of(stream, method):
    ...     settings = stream_settings(stream)()
    ...     return work(RunConfig(settings, method_settings(method).preset("default", settings.outline())))
    >>> of("split-mnist", "single") < of("split-cifar10", "single") < of("split-cifar10", "merlin-paper")
    True
    """
    info, stream, method = config.stream.outline(), config.stream.record(), config.method.record()
    examples, tasks = stream.get("images_per_task", 1000) or ALL_IMAGES, config.tasks or info.tasks
    models = method.get("models", 1)
    fine_tuning = method.get("fine_tune_epochs", 0) * method.get("exemplars", 0) / examples
    learning = method.get("base_models", 1) * method.get("updates_per_batch", 1)
    numbers = float(math.prod(info.input_shape))
    if len(info.input_shape) == 3 and min(info.input_shape[1:]) >= LARGE:
        numbers *= CONVOLUTIONS
    return float(tasks * examples * numbers * (learning + models * (fine_tuning + EVALUATION * tasks)))


class Costs:
    """Seconds that runs took, and what follows for others."""

    def __init__(self) -> None:
        self._known: list[dict[Hashable, tuple[float, float]]] = [{} for _ in LIKENESS]  # seconds and work by likeness

    def add(self, job: Job, seconds: float) -> None:
        """A run took so long, or is going to."""
        amount = work(job.config)
        for alike, known in zip(LIKENESS, self._known, strict=True):
            before = known.get(alike(job), (0.0, 0.0))
            known[alike(job)] = (before[0] + seconds, before[1] + amount)

    def expected(self, job: Job) -> float | None:
        """How long a run takes; None while nothing is known of any."""
        for alike, known in zip(LIKENESS, self._known, strict=True):
            if alike(job) in known:
                seconds, amount = known[alike(job)]
                return seconds * work(job.config) / amount
        return None
