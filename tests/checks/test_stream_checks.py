"""Streams that ship pass the checks of streams, and the checks fail streams that break their rules."""

from dataclasses import dataclass, replace

import pytest
import torch

from merlin_cl.checks import STREAM_CHECKS, check_stream, stream_checks
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.settings import StreamSettings
from merlin_cl.streams.stream import Pool, Selection, Stream, Task

SHIPPED = {
    "split-mnist": {"tasks": 2, "images_per_task": 20},
    "permuted-mnist": {"tasks": 2, "images_per_task": 20},
    "rotated-mnist": {"tasks": 2, "images_per_task": 20, "degrees_per_task": 30.0},
}


@pytest.mark.parametrize("check", STREAM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SHIPPED)
def test_streams_that_ship(name, check):
    check(stream_settings(name)(**SHIPPED[name]))


class Again(Task):
    """Gives its examples as often as asked."""

    def batches(self, size):
        train = self._train
        given = super().batches(size)
        self._train = train
        return given


@dataclass(frozen=True)
class Settings(StreamSettings):
    """Two tasks of two classes, as a test wants them to be."""

    stream = "small"
    builder = f"{__name__}:build"
    broken: str = ""

    def info(self, data=None):
        return StreamInfo("small", (3,), classes=4, tasks=2)


def build(settings, seed, data=None):
    info, broken = settings.info(), settings.broken
    draws = torch.Generator().manual_seed(torch.seed() if broken == "unseeded" else seed)
    tasks = []
    for index in range(info.tasks):
        y = torch.arange(20) % 2 + 2 * index
        x = torch.rand(20, 3, generator=draws)
        if broken == "not finite":
            x[0] = torch.inf
        if broken == "doubles":
            x = x.double()
        test = torch.arange(20)[:: 2 if broken == "unscored" else 1]
        pool, kind = Pool(x, y + (broken == "strangers" and index == 0)), Again if broken == "again" else Task
        task = TaskInfo(index, (2 * index, 2 * index + 1))
        tasks.append(
            kind(task, Selection(pool, torch.arange(20)), Selection(pool, test), torch.Generator().manual_seed(index))
        )
    if broken == "another":
        info = replace(info, mirrored=True)
    return Stream(info, tasks, source="" if broken == "nameless" else "a test", fingerprint="0")


def test_a_stream_that_keeps_the_rules_passes():
    check_stream(Settings())


@pytest.mark.parametrize(
    ("broken", "check", "said"),
    [
        ("another", stream_checks.is_what_its_settings_announce, "announces .* but the stream built is"),
        ("unseeded", stream_checks.same_seed_same_stream, "Task 0, built twice with seed 3, gives other examples"),
        ("nameless", stream_checks.names_its_data, "has no source"),
        ("again", stream_checks.every_example_arrives_once, "Task 0 gives its training examples a second time"),
        ("strangers", stream_checks.examples_are_as_announced, r"has the label 2, not one of \(0, 1\)"),
        ("not finite", stream_checks.examples_are_as_announced, "not finite"),
        ("doubles", stream_checks.examples_are_as_announced, "give uint8 or float32"),
        ("unscored", stream_checks.examples_are_as_announced, "Task 0 is not scored on its class 1"),
    ],
)
def test_the_checks_catch(broken, check, said):
    with pytest.raises(AssertionError, match=rf"{said}.*\.$"):
        check(Settings(broken))
    with pytest.raises(AssertionError, match=rf"^small fails 1 of the battery's checks\.\n{check.__name__}: "):
        check_stream(Settings(broken), [check])
