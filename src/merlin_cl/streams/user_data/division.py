"""Which task an example belongs to and which output its class has. Free of torch."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from merlin_cl.errors import InputError, UsageError, unknown
from merlin_cl.inputs.labels import in_order
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams.settings.user_data import OwnSettings
from merlin_cl.streams.user_data.examples import Examples, OwnData

Groups = Sequence[Sequence[str]]
"""The classes of every task."""


@dataclass(frozen=True)
class Division:
    """Tasks by name with their classes by name, in order."""

    names: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    by_class: bool
    """Whether the class alone says the task; otherwise every example does."""
    domain_incremental: bool
    separate: bool
    """Whether a label means something else in every task, so that each has outputs of its own."""
    returning: bool = False
    """Whether a task that comes back in the order of examples is one more."""

    @property
    def outputs(self) -> dict[tuple[int, str], int]:
        """The output in the head of each class, by (task, label)."""
        if self.separate:
            pairs = [(task, label) for task, group in enumerate(self.groups) for label in group]
            return {pair: place for place, pair in enumerate(pairs)}
        order = list(dict.fromkeys(label for group in self.groups for label in group))
        place = {label: at for at, label in enumerate(order)}
        return {(task, label): place[label] for task, group in enumerate(self.groups) for label in group}

    @property
    def class_names(self) -> list[str]:
        """The names of the classes in the order of the head."""
        names: dict[int, str] = {}
        for (task, label), place in self.outputs.items():
            names.setdefault(place, f"{self.names[task]}: {label}" if self.separate else label)
        return [names[place] for place in sorted(names)]

    def info(self, name: str, input_shape: tuple[int, ...]) -> StreamInfo:
        """What is known before the first task."""
        return StreamInfo(name, input_shape, len(self.class_names), len(self.groups), self.domain_incremental)

    def tasks_of(self, examples: Examples) -> list[int]:
        """The task of every example; -1 for one of a class that no task brings."""
        class_tells = self.by_class or not (self.domain_incremental or self.separate)
        if self.by_class or (examples.tasks is None and class_tells):
            owner = {label: task for task, group in enumerate(self.groups) for label in group}
            return [owner.get(label, -1) for label in examples.labels]
        if examples.tasks is None:
            raise InputError("The training examples name their tasks but the test examples do not; give theirs, too.")
        place = {name: task for task, name in enumerate(self.names)}
        names = visits(examples.tasks) if self.returning else examples.tasks
        return [place.get(name, -1) for name in names]


def visits(tasks: Sequence[str]) -> list[str]:
    """The task of each example, one that comes back called so.

    >>> visits(["winter", "summer", "summer", "winter"])
    ['winter', 'summer', 'summer', 'winter (2)']
    """
    counts: dict[str, int] = {}
    named: list[str] = []
    for name, group in itertools.groupby(tasks):
        counts[name] = counts.get(name, 0) + 1
        named += [name if counts[name] == 1 else f"{name} ({counts[name]})"] * len(list(group))
    return named


def divide(data: OwnData, settings: OwnSettings, seed: int, groups: Groups | None = None) -> Division:
    """The division that the settings ask for; `groups`, the classes of every task, goes before them."""
    train, place = data.train, data.place
    classes = in_order(set(train.labels))
    if not classes:
        raise InputError(f"There are no examples in {place}; give at least two classes with a few each.")
    if len(classes) == 1:
        raise InputError(
            f"All {len(train):,} examples of {place} are of one class, {classes[0]!r}; a classifier needs at least two."
        )
    groups = groups or [[name.strip() for name in group.split(",")] for group in settings.task_classes]
    if train.tasks is not None:
        if groups or settings.tasks:
            raise UsageError(f"{place} says of every example which task it belongs to; do not give the tasks as well.")
        if settings.task_order == "returning" and data.test is not None:
            raise UsageError(
                "task_order is 'returning', which goes by the order of the training examples, but there is a test part that has "
                "another one; leave the test part out, and one is split off."
            )
        return _by_example(train, settings, place)
    if not groups and not settings.tasks:
        raise UsageError(
            f"Nothing says how the {len(classes)} classes of {place} come in tasks; give the number of tasks to divide them "
            f"into (tasks, or --tasks N), the classes of each, or {data.tasks_from}."
        )
    if groups and settings.tasks not in (0, len(groups)):
        raise UsageError(
            f"tasks is {settings.tasks}, but the classes of {len(groups)} tasks are named; give one of the two."
        )
    return _by_class(groups or _shared_out(classes, settings, place, seed), classes, place)


def _shared_out(classes: list[str], settings: OwnSettings, place: str, seed: int) -> Groups:
    """Classes divided among the tasks as evenly as can be, the first tasks getting one more."""
    match settings.class_order:
        case "sorted":
            order = classes
        case "shuffled":
            order = Random(f"class order/{seed}").sample(classes, len(classes))
        case listed:
            order = [name.strip() for name in listed.split(",")]
    if settings.tasks > len(order):
        raise UsageError(
            f"tasks is {settings.tasks}, but {place} has {len(order)} classes; every task needs at least one."
        )
    size, more = divmod(len(order), settings.tasks)
    rest = iter(order)
    return [list(itertools.islice(rest, size + (task < more))) for task in range(settings.tasks)]


def _by_class(groups: Groups, classes: list[str], place: str) -> Division:
    owner: dict[str, int] = {}
    for task, group in enumerate(groups):
        if not group:
            raise UsageError(f"Task {task} has no classes; name some or drop it.")
        for label in group:
            if label not in classes:
                raise unknown(f"class of {place}", label, classes)
            if label in owner:
                raise UsageError(
                    f"Class {label!r} is in task {owner[label]} and again in task {task}; where tasks share classes, say of "
                    "every example which task it belongs to."
                )
            owner[label] = task
    names = tuple((" and " if len(group) == 2 else ", ").join(group) for group in groups)
    return Division(names, tuple(map(tuple, groups)), by_class=True, domain_incremental=False, separate=False)


def _by_example(train: Examples, settings: OwnSettings, place: str) -> Division:
    assert train.tasks is not None
    classes: dict[str, set[str]] = {}
    returning = settings.task_order == "returning"
    for task, label in zip(visits(train.tasks) if returning else train.tasks, train.labels, strict=True):
        classes.setdefault(task, set()).add(label)
    names = in_order(classes) if settings.task_order == "sorted" else list(classes)
    groups = tuple(tuple(in_order(classes[name])) for name in names)
    shared, same = _overlap(names, groups), len({frozenset(group) for group in groups}) == 1
    scenario = settings.scenario
    if scenario == "auto":
        if shared and not same and not returning:
            label, first, second = shared
            raise InputError(
                f"The tasks of {place} share some classes but not all: {label!r} is in task {first!r} and in task {second!r}, "
                "whose classes differ otherwise. Set scenario to domain-incremental if a label means the same in every task, "
                "to class-incremental if every task has labels of its own."
            )
        scenario = "domain-incremental" if shared else "class-incremental"
    domain = scenario == "domain-incremental"
    return Division(tuple(names), groups, False, domain, bool(shared) and not domain, returning)


def _overlap(names: Sequence[str], groups: Groups) -> tuple[str, str, str] | None:
    """A class that is in two tasks, and those tasks."""
    owner: dict[str, str] = {}
    for name, group in zip(names, groups, strict=True):
        for label in group:
            if label in owner:
                return label, owner[label], name
            owner[label] = name
    return None
