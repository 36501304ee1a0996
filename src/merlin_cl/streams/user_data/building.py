"""The stream that a user's own data make: examples shared out to tasks, a part of each class kept to be scored on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.features import Features
from merlin_cl.features.cache import Raw
from merlin_cl.features.raw import RawForm
from merlin_cl.inputs.filling import ColumnMeans
from merlin_cl.inputs.standardisation import Standardisation
from merlin_cl.protocol import TaskInfo
from merlin_cl.randomness import generator
from merlin_cl.streams.fingerprint import fingerprint
from merlin_cl.streams.settings.user_data import OwnSettings
from merlin_cl.streams.stream import Pool, Selection, Stream, Task
from merlin_cl.streams.user_data.division import Division, Groups, divide
from merlin_cl.streams.user_data.examples import Examples, OwnData


def build(settings: OwnSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives, from a file or folder."""
    return own_stream(settings.read(data), settings, seed, settings.title(data))


def own_stream(
    data: OwnData,
    settings: OwnSettings,
    seed: int,
    name: str,
    groups: Groups | None = None,
    features: Features | None = None,
) -> Stream:
    """The stream that a seed gives; `groups` are the classes of every task, and `features` what they are to be learned from,
    where the settings do not say."""
    features = features or (Features.named(settings.features) if settings.features else None)
    division = divide(data, settings, seed, groups)
    train = Placed.of(data.train, division)
    at = (train.tasks >= 0).nonzero().squeeze(1)
    if data.test is None:
        at, test_at = split_off(train, at, settings.test_fraction, settings.split_seed, "test", division)
        test = train
    else:
        test = Placed.of(data.test, division)
        test_at = (test.tasks >= 0).nonzero().squeeze(1)
        _require_same_classes(data, division, train, test)
    if settings.evaluation == "held-out":
        at, test_at = split_off(train, at, settings.test_fraction, seed, "held-out", division)
        test = train

    raw = _inputs(data.train, data)
    x = _learned_from(raw, data, features)
    test_x, checksum = x, _checksum(raw, data.train)
    if test is not train and data.test is not None:
        raw_test = _inputs(data.test, data)
        test_x = _learned_from(raw_test, data, features)
        checksum += f"-{_checksum(raw_test, data.test)}"
    checksum += f"+{features.checksum}" if features else ""
    means = None
    if data.fill and x.is_floating_point():
        means = ColumnMeans.none(data.input_shape).after(x[at[train.tasks[at] == 0]])
        same, x = test_x is x, means.filled(x)
        test_x = x if same else means.filled(test_x)
    standardisation = None
    if (data.standardise or features is not None) and x.is_floating_point():
        fitted = Standardisation.fitted_to if features is None else Standardisation.scale_of
        standardisation = fitted(x[at[train.tasks[at] == 0]])
        x, test_x = standardisation.applied(x, test_x)
    pool = Pool(x, train.outputs)
    test_pool = pool if test is train else Pool(test_x, test.outputs)
    outputs = division.outputs
    tasks = [
        Task(
            TaskInfo(index, tuple(sorted(outputs[index, label] for label in group)), division.names[index]),
            Selection(pool, at[train.tasks[at] == index]),
            Selection(test_pool, test_at[test.tasks[test_at] == index]),
            generator("stream", seed, "own", "order", index),
        )
        for index, group in enumerate(division.groups)
    ]
    source = f"{len(at):,} training and {len(test_at):,} {settings.evaluation} examples, checksum {checksum}"
    info = division.info(name, tuple(x.shape[1:]))
    stream = Stream(info, tasks, source, division.class_names, checksum, data.place)
    stream.columns, stream.standardisation = data.columns, standardisation
    stream.encoding, stream.means = data.encoding, means
    stream.features = features.note(RawForm.of(raw)) if features else None
    return stream


@dataclass(frozen=True)
class Placed:
    """Where examples belong: task and output of each, int64 [N]; -1 for examples of classes that no task brings."""

    tasks: Tensor
    outputs: Tensor

    @classmethod
    def of(cls, examples: Examples, division: Division) -> "Placed":
        """By the division."""
        tasks, outputs = division.tasks_of(examples), division.outputs
        places = [outputs.get((task, label), -1) for task, label in zip(tasks, examples.labels, strict=True)]
        kept = [task if place >= 0 else -1 for task, place in zip(tasks, places, strict=True)]
        return cls(torch.tensor(kept, dtype=torch.int64), torch.tensor(places, dtype=torch.int64))


def split_off(
    placed: Placed, at: Tensor, fraction: float, seed: int, purpose: str, division: Division
) -> tuple[Tensor, Tensor]:
    """Positions `at` as those that remain and those split off, both ascending: of each class of each task a fraction, but at
    least one and not all.

    What is split off of a class depends on the seed and that class alone. A class that has one example in some task and more
    in others is not scored in that task.
    """
    outputs, tasks = placed.outputs[at], placed.tasks[at]
    taken = torch.zeros(len(at), dtype=torch.bool)
    for output, name in enumerate(division.class_names):
        if int((outputs == output).sum()) == 1:
            left = "" if purpose == "test" else " left to learn from"
            raise InputError(
                f"Class {name!r} has a single example{left}; it needs two at least, one to learn from and one to be scored on. "
                "Add some or leave the class out."
            )
    for (task, label), output in division.outputs.items():
        own = ((outputs == output) & (tasks == task)).nonzero().squeeze(1)
        if len(own) > 1:
            count = min(max(round(len(own) * fraction), 1), len(own) - 1)
            draws = generator("stream", seed, "own", purpose, division.names[task], label)
            taken[own[torch.randperm(len(own), generator=draws)[:count]]] = True
    return at[~taken], at[taken]


def _learned_from(raw: Raw, data: OwnData, features: Features | None) -> Tensor:
    """Features of inputs, or the inputs themselves."""
    if features is not None:
        return features(raw)
    if isinstance(raw, Tensor):
        return raw
    raise UsageError(
        f"{data.place} holds texts, which become numbers by features; name some: features='minilm' (or --features minilm), or "
        "'hashing', which needs nothing else."
    )


def _inputs(examples: Examples, data: OwnData) -> Raw:
    """All inputs, uint8 or float [N, *shape] or texts, checked."""
    shape = data.input_shape
    x = examples.inputs()
    if not isinstance(x, Tensor):
        return x
    if tuple(x.shape) != (len(examples), *shape):
        raise InputError(
            f"Inputs have shape {list(x.shape)}; expected {len(examples)} examples (as many as there are labels) of shape "
            f"{list(shape)}."
        )
    if x.is_floating_point():
        strange = (x.isinf() if data.fill else ~torch.isfinite(x)).flatten(1).any(dim=1).nonzero()
        if len(strange):
            raise InputError(
                f"{examples.named(int(strange[0])).capitalize()} contains NaN or an infinite value, as do {len(strange):,} in "
                "all; fill such values in or leave those examples out."
            )
    return x


def _checksum(x: Raw, examples: Examples) -> str:
    """Of inputs, labels and tasks as the data have them, whatever the seed makes of them."""
    names = (*examples.labels, *(examples.tasks or ()))
    return fingerprint(x, names=names) if isinstance(x, Tensor) else fingerprint(names=(*names, *x))


def _require_same_classes(data: OwnData, division: Division, train: Placed, test: Placed) -> None:
    """Refuse a test part that does not fit: strange classes or tasks in it, or none of a class that is learned."""
    assert data.test is not None
    known, known_tasks = set(data.train.labels), set(data.train.tasks or ())
    _require_known("class", data.test.labels, known, data.test)
    if data.test.tasks is not None and not division.by_class:
        _require_known("task", data.test.tasks, known_tasks, data.test)
    lacking = sorted(set(train.outputs.tolist()) - set(test.outputs.tolist()) - {-1})
    if lacking:
        raise InputError(
            f"The test part has no examples of class {division.class_names[lacking[0]]!r}; add some, or give no test part and "
            "one is split off."
        )


def _require_known(what: str, names: Sequence[str], known: set[str], examples: Examples) -> None:
    for position, name in enumerate(names):
        if name not in known:
            raise InputError(
                f"{examples.named(position).capitalize()}, for testing, is of {what} {name!r}, of which there are no training "
                "examples; add some or take it away."
            )
