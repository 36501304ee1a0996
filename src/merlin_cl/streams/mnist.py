"""What the MNIST streams share: each task draws its training images by seed and is scored on every image of its classes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.protocol import TaskInfo
from merlin_cl.streams.randomness import generator
from merlin_cl.streams.settings import MnistSettings
from merlin_cl.streams.sources import mnist_source
from merlin_cl.streams.stream import Pool, Selection, Stream, Task, Transform

HELD_OUT = 10_000
"""Held-out images in all at most: as many as the test set has, so that scoring costs the same."""


def mnist_stream(
    settings: MnistSettings,
    seed: int,
    data: str | Path | None,
    infos: Sequence[TaskInfo],
    transform: Callable[[int], Transform | None],
) -> Stream:
    """The stream whose task k has the classes of `infos[k]` and shows its images through `transform(k)`."""
    source = mnist_source(data)
    train = source.pool("train")
    described = source.describe(train)
    drawn = [_draw(settings, seed, train, info, described) for info in infos]
    if settings.evaluation == "held-out":
        judged, candidates = train, _held_out(settings, seed, train, drawn)
    else:
        judged = source.pool("t10k")
        candidates = torch.arange(len(judged))
    tasks = []
    for info, at in zip(infos, drawn, strict=True):
        shown = transform(info.index)
        scored = candidates[_of_classes(judged.y[candidates], info)]
        if not len(scored):
            raise UsageError(
                f"No image of {described} is left to score task {info.index} of {settings.stream} on; "
                "lower images_per_task or tasks, or give the full MNIST."
            )
        order = generator(seed, settings.stream, "order", info.index)
        tasks.append(Task(info, Selection(train, at, shown), Selection(judged, scored, shown), order))
    return Stream(settings.info(), tasks, described)


def _draw(settings: MnistSettings, seed: int, train: Pool, info: TaskInfo, described: str) -> Tensor:
    """Positions of a task's training images, int64 [images_per_task], drawn without replacement."""
    eligible = _of_classes(train.y, info).nonzero().squeeze(1)
    if len(eligible) < settings.images_per_task:
        raise UsageError(
            f"images_per_task is {settings.images_per_task:,}, but task {info.index} of {settings.stream} has "
            f"{len(eligible):,} in {described}; lower it, or give the full MNIST."
        )
    chosen = torch.randperm(len(eligible), generator=generator(seed, settings.stream, "draw", info.index))
    return eligible[chosen[: settings.images_per_task]]


def _held_out(settings: MnistSettings, seed: int, train: Pool, drawn: Sequence[Tensor]) -> Tensor:
    """Positions of training images that no task of the stream draws, ascending, at most `HELD_OUT` of them."""
    free = torch.ones(len(train), dtype=torch.bool)
    free[torch.cat(list(drawn))] = False
    spare = free.nonzero().squeeze(1)
    chosen = torch.randperm(len(spare), generator=generator(seed, settings.stream, "held-out"))
    return spare[chosen[:HELD_OUT]].sort().values


def _of_classes(y: Tensor, info: TaskInfo) -> Tensor:
    return torch.isin(y, torch.tensor(info.classes))
