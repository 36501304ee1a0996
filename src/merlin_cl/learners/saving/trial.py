"""A learner from a stranger's file, tried before it is given out: its state must be one that such a learner gives itself, and it
must answer, learn and end a task with it. A checksum says that a file is whole, not that it is honest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.statefile import State

TASK: dict[str, type | tuple[type, ...]] = {
    "index": int,
    "classes": list,
    "name": str,
    "descriptor": (list, type(None)),
}
LABELS, TASKS = ("labels", "y"), ("tasks",)
"""What methods call the labels of examples that they keep, and the tasks these came with."""
MEMORY = {"x", "labels", "tasks", "seen", "generator"}
"""The parts of a memory of examples, by which it is known wherever a method keeps one."""
EFFORT = ("models", "updates_per_batch")
"""Settings that say how much work is done, besides all that end in `epochs` or `steps`: a trial does with the least."""


class MisfitError(ValueError):
    """A state that no such learner has given; the text says why in a few words."""


def restored(
    settings: MethodSettings, stream: StreamInfo, seed: int, device: str, state: State, is_bytes: bool
) -> Learner[Any]:
    """The learner that a state was taken from, once a twin of it has answered and learned; `is_bytes`: whether its inputs are."""
    require_learner_state(state, stream)
    require_finite(state)
    learner = settings.build(stream, seed, device)
    learner.restore(state)
    require_same_form(state, learner.state())
    twin = _with_little_effort(settings).build(stream, seed, device)
    twin.in_trial = True
    twin.restore(state)
    _try(twin, torch.zeros(2, *stream.input_shape, dtype=torch.uint8 if is_bytes else torch.float32))
    return learner


def require_learner_state(state: State, stream: StreamInfo) -> None:
    """Refuse a state whose parts that every learner has are not what they are of any learner."""
    needed = {"tasks": list, "learning": bool, "cpu_seconds": dict, "method": dict}
    _require(set(state) - {"made_for"} == set(needed), "its parts are not those of a learner")
    _require(all(isinstance(state[name], kind) for name, kind in needed.items()), "a part is of another type")
    room = state.get("made_for", {})
    _require(isinstance(room, dict) and set(room) <= {"classes", "tasks"}, "made_for is of another form")
    for name, number in room.items():
        _require(_is_whole(number, 1, getattr(stream, name)), f"it was made for {number} {name}")
    _require(
        len(state["tasks"]) <= stream.tasks, f"{len(state['tasks'])} tasks, where there is room for {stream.tasks}"
    )
    for index, task in enumerate(state["tasks"]):
        _require_task(task, index, stream)
    _require(bool(state["tasks"]) or not state["learning"], "it learns a task without having begun one")
    for name, seconds in state["cpu_seconds"].items():
        _require(isinstance(seconds, int | float) and seconds >= 0, f"{name} took {seconds!r} seconds")
    for path, value in _leaves(state["method"]):
        if path[-1] in LABELS or path[-1] in TASKS:
            _require_positions(path, value, stream.classes if path[-1] in LABELS else len(state["tasks"]))
    for memory in _memories(state["method"]):
        _require_memory(memory, stream)


def require_finite(state: State) -> None:
    """Refuse numbers that are not finite."""
    for path, value in _leaves(state):
        if isinstance(value, Tensor):
            whole = not value.is_floating_point() or bool(torch.isfinite(value).all())
        else:
            whole = not isinstance(value, float) or math.isfinite(value)
        _require(whole, f"{'/'.join(path)} is not finite")


def tensor_bytes(state: State) -> int:
    """Bytes of all tensors in a state."""
    return sum(value.numel() * value.element_size() for _, value in _leaves(state) if isinstance(value, Tensor))


def require_same_form(given: Any, own: Any, where: str = "state") -> None:
    """Refuse a state that is not what the learner says its state is, now that it has taken it over.

    Names, types, shapes and plain values must be the same; a part that `given` lacks was not there in an earlier version.
    """
    if isinstance(own, tuple):
        own = list(own)
    if isinstance(given, Tensor) and isinstance(own, Tensor):
        same = given.shape == own.shape and given.dtype == own.dtype
        _require(same, f"{where} is {given.dtype} {list(given.shape)} and should be {own.dtype} {list(own.shape)}")
    elif isinstance(given, dict) and isinstance(own, dict):
        for name in given:
            _require(name in own, f"{where}/{name} is not known")
            if name != "cpu_seconds":
                require_same_form(given[name], own[name], f"{where}/{name}")
    elif isinstance(given, list) and isinstance(own, list):
        _require(len(given) == len(own), f"{where} has {len(given)} entries and should have {len(own)}")
        for at, (one, other) in enumerate(zip(given, own, strict=True)):
            require_same_form(one, other, f"{where}/{at}")
    else:
        _require(type(given) is type(own) and given == own, f"{where} is {given!r} and should be {own!r}")


def _try(learner: Learner[Any], x: Tensor) -> None:
    """Ask for answers to inputs x, and teach them: whatever it raises, the learner is of no use.

    A learner that refuses to learn says so in a sentence, which is no more than it would say to its user.
    """
    _ask(learner, x)
    try:
        learner, label = _begun(learner)
        learner.observe(x, torch.full((len(x),), label))
        _ask(learner, x)
        learner.end()
    except MerlinError:
        return
    _ask(learner, x)


def _begun(learner: Learner[Any]) -> tuple[Learner[Any], int]:
    """The learner with a task begun, and a class of that; one that has grown, where there is no room for another task."""
    stream, tasks = learner.stream, learner.tasks
    if learner.learning:
        return learner, tasks[-1].classes[0]
    usual = tasks[-1].classes if tasks and stream.domain_incremental else ()
    free = usual or [label for label in range(stream.classes) if label not in learner.seen] or [stream.classes]
    room = max(stream.classes, free[0] + 1), max(stream.tasks, len(tasks) + 1)
    if room != (stream.classes, stream.tasks):
        learner = learner.grown(*room)
    learner.begin(TaskInfo(len(tasks), (free[0],), "", tasks[-1].descriptor if tasks else None))
    return learner, free[0]


def _ask(learner: Learner[Any], x: Tensor) -> None:
    """Answers in every way, for every task."""
    if not learner.tasks:
        return
    tasks = {0, len(learner.tasks) - 1}
    for inference in learner.inferences:
        for task in tasks if inference == "aware" else (None,) if inference else (None, *tasks):
            answer = learner.logits(x, task, inference=inference)
            _require(bool(torch.isfinite(answer).all()), "its answers are not finite")


def _with_little_effort(settings: MethodSettings) -> MethodSettings:
    """The same settings, for a trial that takes no longer than it must."""
    for field in fields(settings):
        if field.name in EFFORT or field.name.endswith(("epochs", "steps")):
            for least in (0, 1):
                if getattr(settings, field.name) > least:
                    with suppress(UsageError):
                        settings = replace(settings, **{field.name: least})
                        break
    return settings


def _require_task(task: Any, index: int, stream: StreamInfo) -> None:
    where = f"task {index}"
    _require(isinstance(task, dict) and set(task) == set(TASK), f"{where} is of another form")
    _require(all(isinstance(task[name], kind) for name, kind in TASK.items()), f"{where} is of another form")
    _require(task["index"] == index and not isinstance(task["index"], bool), f"{where} has the index {task['index']!r}")
    classes = task["classes"]
    known = bool(classes) and all(_is_whole(label, 0, stream.classes - 1) for label in classes)
    _require(known and len(set(classes)) == len(classes), f"{where} has classes that there cannot be")
    numbers = task["descriptor"] or []
    _require(all(type(number) in (int, float) for number in numbers), f"{where} is described by what is no number")


def _require_positions(path: tuple[str, ...], value: Any, count: int) -> None:
    """Refuse labels, or numbers of tasks, that there are not."""
    if isinstance(value, Tensor):
        good = value.dtype == torch.int64 and (not value.numel() or 0 <= int(value.min()) <= int(value.max()) < count)
    else:
        good = _is_whole(value, 0, count - 1)
    _require(good, f"{'/'.join(path)} has a number that there cannot be")


def _memories(value: Any) -> Iterator[dict[str, Any]]:
    """Every memory of examples at any depth."""
    if isinstance(value, dict):
        if value.keys() >= MEMORY:
            yield value
        for item in value.values():
            yield from _memories(item)


def _require_memory(memory: dict[str, Any], stream: StreamInfo) -> None:
    """Refuse a memory whose parts do not fit each other."""
    x, count = memory["x"], len(memory["labels"])
    _require(isinstance(x, Tensor) and x.dtype in (torch.uint8, torch.float32), "its exemplars are of another type")
    _require(tuple(x.shape) == (count, *stream.input_shape), f"exemplars {list(x.shape)} for {count} labels")
    _require(len(memory["tasks"]) == count, f"{len(memory['tasks'])} tasks for {count} exemplars")
    if "notes" in memory:
        notes = memory["notes"]
        _require(isinstance(notes, Tensor) and notes.dim() == 2 and len(notes) == count, "notes of other exemplars")
    for group in memory["seen"]:
        known = isinstance(group, list) and len(group) == 3 and all(_is_whole(number, 0, 2**62) for number in group)
        _require(known and group[1] < stream.classes, "it has seen what there cannot be")
    if "groups" in memory.get("criterion", {}):
        noted, seen = (
            [tuple(group) for group in memory["criterion"]["groups"]],
            [(task, y) for task, y, _ in memory["seen"]],
        )
        latest = [group for group in seen if group[0] == max(task for task, _ in seen)]
        _require(sorted(noted) == sorted(latest), "its choice of exemplars rests on what there cannot be")


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Everything that is neither a dictionary nor a list, with the names on the way to it; lists have no names of their own."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*path, str(name)))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise MisfitError(why)
