"""What every stream must hold to: it is what its settings announce, a seed gives it, and every example arrives once."""

from collections.abc import Callable

import torch

from merlin_cl.errors import MerlinError
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.stream import Stream

BATCH = 8


def is_what_its_settings_announce(settings: StreamSettings) -> None:
    """`settings.info()`, which nobody has to build the stream for, says what the stream then is."""
    announced, built = settings.info(), settings.build(seed=3).info
    assert announced == built, f"info() of the settings announces {announced}, but the stream built is {built}."


def same_seed_same_stream(settings: StreamSettings) -> None:
    """Built twice with one seed, a stream gives the same examples in the same order, and has the same fingerprint."""
    first, second = settings.build(seed=3), settings.build(seed=3)
    for one, other in zip(first, second, strict=True):
        pairs = zip(one.batches(BATCH), other.batches(BATCH), strict=True)
        same = all(torch.equal(x, u) and torch.equal(y, v) for (x, y), (u, v) in pairs)
        assert same, f"Task {one.info.index}, built twice with seed 3, gives other examples; draw from the seed alone."
        same = all(torch.equal(a, b) for a, b in zip(one.test(), other.test(), strict=True))
        assert same, f"Task {one.info.index}, built twice with seed 3, is scored on other examples."
    assert first.fingerprint == second.fingerprint, "Built twice with seed 3, the stream has two fingerprints."


def names_its_data(settings: StreamSettings) -> None:
    """A result records which data it was measured on: the stream has a source in words and a fingerprint."""
    stream = settings.build(seed=3)
    assert stream.source, "The stream has no source; say in a few words which data these are."
    assert stream.fingerprint, "The stream has no fingerprint; give it the checksum of its examples."


def every_example_arrives_once(settings: StreamSettings) -> None:
    """A task gives out as many examples as it says, in batches, and none a second time."""
    for task in settings.build(seed=3):
        sizes = [len(y) for _, y in task.batches(BATCH)]
        where = f"Task {task.info.index}"
        assert sum(sizes) == task.train_count, f"{where} gave {sum(sizes)} examples, but said {task.train_count}."
        assert all(size == BATCH for size in sizes[:-1]), (
            f"{where} gave batches of {sizes}, where {BATCH} were asked for."
        )
        try:
            task.batches(BATCH)
        except MerlinError:
            continue
        raise AssertionError(f"{where} gives its training examples a second time.")


def examples_are_as_announced(settings: StreamSettings) -> None:
    """Inputs are bytes or finite floats of the shape announced; labels are classes of their task, each of which is scored."""
    stream = settings.build(seed=3)
    for task in stream:
        parts = [*task.batches(BATCH), task.test()]
        for x, y in parts:
            _require_form(stream, x, f"Task {task.info.index}")
            strangers = sorted(set(y.tolist()) - set(task.info.classes))
            assert not strangers, (
                f"Task {task.info.index} has the label {strangers[0]}, not one of {task.info.classes}."
            )
        missing = sorted(set(task.info.classes) - set(parts[-1][1].tolist()))
        assert not missing, f"Task {task.info.index} is not scored on its class {missing[0]}; give it test examples."


def _require_form(stream: Stream, x: torch.Tensor, where: str) -> None:
    shape = stream.info.input_shape
    assert tuple(x.shape[1:]) == shape, f"{where} has inputs {list(x.shape[1:])}, but {list(shape)} are announced."
    assert x.dtype in (torch.uint8, torch.float32), f"{where} has inputs of {x.dtype}; give uint8 or float32."
    assert x.dtype == torch.uint8 or bool(torch.isfinite(x).all()), f"{where} has inputs that are not finite."


STREAM_CHECKS: list[Callable[[StreamSettings], None]] = [
    is_what_its_settings_announce,
    same_seed_same_stream,
    names_its_data,
    every_example_arrives_once,
    examples_are_as_announced,
]
