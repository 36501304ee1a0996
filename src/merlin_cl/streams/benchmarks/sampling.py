"""Tasks drawn from published data sets: each draws its training images by seed and is scored on every image of its classes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.protocol import TaskInfo
from merlin_cl.randomness import generator
from merlin_cl.streams.datasets import DataSet, Part, is_present, open_data_set
from merlin_cl.streams.fingerprint import fingerprint
from merlin_cl.streams.settings import DrawnSettings
from merlin_cl.streams.stream import Pool, Selection, Stream, Task, Transform

HELD_OUT = 10_000
"""Held-out images of a data set at most: as many as the test set of most has, so that scoring costs the same."""


@dataclass(frozen=True)
class TaskPlan:
    """A task before its images are drawn."""

    info: TaskInfo
    source: DataSet
    places: Mapping[int, int]
    """The output in the head that each of its classes has, by label in the data set."""
    transform: Transform | None = None
    """What the task does to its images."""


def drawn_stream(
    settings: DrawnSettings,
    seed: int,
    plans: Sequence[TaskPlan],
    class_names: Sequence[str],
    data: str | Path | None = None,
) -> Stream:
    """The stream whose tasks follow the plans; plans that share a data set come one after another. `data` is the folder that
    inputs of another kind are looked for in."""
    tasks: list[Task] = []
    drawings: list[_Drawing] = []
    for _, group in groupby(plans, key=lambda plan: id(plan.source)):
        drawn = _Drawing(settings, seed, list(group))
        tasks += drawn.tasks()
        drawings.append(drawn)
    return Stream(
        settings.info(),
        tasks,
        "; ".join(drawn.content for drawn in drawings),
        class_names,
        fingerprint(*(tensor for drawn in drawings for pool in drawn.pools for tensor in (pool.x, pool.y))),
        "; ".join(drawn.source.place for drawn in drawings),
        {name: partial(_other, settings, name, data) for name in settings.other_kinds if is_present(name, data)},
    )


def _other(settings: DrawnSettings, name: str, data: str | Path | None, count: int) -> Tensor:
    """At most `count` inputs of another kind, from the part of their data set that the stream's own are scored on."""
    part = open_data_set(name, data).read("train" if settings.evaluation == "held-out" else "test")
    at = torch.randperm(len(part), generator=generator("stream", 0, settings.stream, "other", name))[:count]
    return part.images(at, settings.info().input_shape)


class _Drawing:
    """What the tasks of one data set draw."""

    def __init__(self, settings: DrawnSettings, seed: int, plans: list[TaskPlan]) -> None:
        self.settings = settings
        self.seed = seed
        self.plans = plans
        self.source = plans[0].source
        self.train = self.source.read("train")
        self.described = self.source.describe(self.train)
        self.content = self.source.content(self.train)
        self.pools: list[Pool] = []

    def tasks(self) -> list[Task]:
        """The tasks, their images in memory: only those that some task draws or is scored on."""
        self._require_every_class(self.train, "training")
        drawn = [self._draw(plan) for plan in self.plans]
        if self.settings.evaluation == "held-out":
            scored = self._scored(self.train, self._held_out(drawn))
            pool, at = self._pool(self.train, [*drawn, *scored])
            train_pool = test_pool = pool
            train_at, test_at = at[: len(drawn)], at[len(drawn) :]
        else:
            test = self.source.read("test")
            self._require_every_class(test, "test")
            train_pool, train_at = self._pool(self.train, drawn)
            test_pool, test_at = self._pool(test, self._scored(test, torch.arange(len(test))))
        return [
            Task(
                plan.info,
                Selection(train_pool, to_learn, plan.transform),
                Selection(test_pool, to_score, plan.transform),
                generator("stream", self.seed, self.settings.stream, "order", plan.info.index),
            )
            for plan, to_learn, to_score in zip(self.plans, train_at, test_at, strict=True)
        ]

    def _draw(self, plan: TaskPlan) -> Tensor:
        """Positions of a task's training images, int64 [images_per_task], drawn without replacement."""
        eligible = _of_classes(self.train.labels, plan.places).nonzero().squeeze(1)
        wanted, stream = self.settings.images_per_task or len(eligible), self.settings.stream
        if len(eligible) < wanted:
            raise UsageError(
                f"images_per_task is {wanted:,}, but task {plan.info.index} of {stream} has {len(eligible):,} in "
                f"{self.described}; lower it, or give the full {self.source.title}."
            )
        chosen = torch.randperm(
            len(eligible), generator=generator("stream", self.seed, stream, "draw", plan.info.index)
        )
        return eligible[chosen[:wanted]]

    def _held_out(self, drawn: Sequence[Tensor]) -> Tensor:
        """Positions of training images that no task of the stream draws, ascending, at most `HELD_OUT` of them."""
        free = _of_classes(self.train.labels, [label for plan in self.plans for label in plan.places])
        free[torch.cat(list(drawn))] = False
        spare = free.nonzero().squeeze(1)
        chosen = torch.randperm(len(spare), generator=generator("stream", self.seed, self.settings.stream, "held-out"))
        return spare[chosen[:HELD_OUT]].sort().values

    def _scored(self, part: Part, candidates: Tensor) -> list[Tensor]:
        """Those candidates that each task is scored on."""
        scored = [candidates[_of_classes(part.labels[candidates], plan.places)] for plan in self.plans]
        for plan, at in zip(self.plans, scored, strict=True):
            if not len(at):
                raise UsageError(
                    f"No image of {self.described} is left to score task {plan.info.index} of {self.settings.stream} on; "
                    f"ask for fewer images_per_task or tasks, or give the full {self.source.title}."
                )
        return scored

    def _pool(self, part: Part, positions: Sequence[Tensor]) -> tuple[Pool, list[Tensor]]:
        """The images at these positions in one pool, and where in the pool each task finds its own."""
        needed, within = torch.cat(list(positions)).unique(return_inverse=True)
        output = torch.full((int(part.labels.max()) + 1,), -1)
        for plan in self.plans:
            for label, place in plan.places.items():
                output[label] = place
        pool = Pool(part.images(needed, self.settings.info().input_shape), output[part.labels[needed]])
        self.pools.append(pool)
        return pool, list(within.split([len(at) for at in positions]))

    def _require_every_class(self, part: Part, which: str) -> None:
        """Refuse a stream with a class that never occurs, naming all such classes at once."""
        present = set(part.labels.unique().tolist())
        lacking = {
            plan.info.index: names
            for plan in self.plans
            if (names := [self.source.classes[label] for label in plan.places if label not in present])
        }
        if lacking:
            names = [name for task in lacking.values() for name in task]
            raise InputError(
                f"{self.source.place} has no {which} images of {_plural(len(names), 'class', 'classes')} that "
                f"{self.settings.stream} brings in {_plural_tasks(lacking)}: {', '.join(names)}; "
                f"{f'lower tasks to {first}, or ' if (first := min(lacking)) else ''}give the full {self.source.title}."
            )


def _of_classes(labels: Tensor, classes: Iterable[int]) -> Tensor:
    return torch.isin(labels, torch.tensor(list(classes)))


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _plural_tasks(tasks: Iterable[int]) -> str:
    numbers = sorted(tasks)
    return f"task{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
