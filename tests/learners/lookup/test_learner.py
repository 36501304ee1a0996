"""The control `lookup`: one network a task within its bytes, and no distribution."""

import dataclasses

import pytest
import torch

from merlin_cl.checks.clouds import STREAM, TASKS, examples, learned
from merlin_cl.errors import UsageError
from merlin_cl.learners.lookup.settings import LookupSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.protocol import StreamInfo

SMALL = LookupSettings(hidden_units=(16,), exemplars=12, learning_rate=2e-2, updates_per_batch=5, replay=4)


def test_every_task_has_one_network_and_samples_of_it_are_the_same():
    learner = learned(SMALL.build(STREAM, seed=0))
    for task in TASKS:
        models = learner.ensemble(task.index, 4).weights
        assert torch.equal(models, models[:1].expand_as(models))
        figures = learner.probe(task.index, *examples(task))
        assert figures["sampled_ensemble"] > 90
        assert figures["sampled_diversity"] == 0


def test_all_tasks_are_cut_to_size_alike_when_they_no_longer_fit():
    learner = SMALL.build(STREAM, seed=0)
    learner.distribution.memory = 500
    learned(learner)
    sizes = [prior.bytes for prior in learner.distribution.priors]
    assert sum(sizes) <= 500
    assert max(sizes) < 2 * min(sizes)


def test_it_is_merlin_with_one_network_on_every_stream():
    for stream in (
        StreamInfo("digits", (1, 28, 28), classes=10, tasks=5),
        StreamInfo("photographs", (3, 32, 32), classes=10, tasks=5, mirrored=True),
    ):
        own, merlin = (kind.preset("default", stream) for kind in (LookupSettings, MerlinSettings))
        assert (own.models, own.base_models) == (1, 1)
        for name in ("exemplars", "exemplar_choice", "replay", "rehearse", "updates_per_batch", "augmentation"):
            assert getattr(own, name) == getattr(merlin, name)


def test_a_task_needs_some_bytes():
    with pytest.raises(UsageError, match=r"task_kilobytes is 0\.0"):
        dataclasses.replace(SMALL, task_kilobytes=0.0)
