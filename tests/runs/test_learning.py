"""What is held while a task is learned is what a checkpoint within it would have to save."""

import pytest
import torch

from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.learning import learn_task
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tensors import bytes_of

ROOM = 20_000
"""Bytes for the states of a few generators."""


def held_and_kept(method, **changes):
    stream = stream_settings("split-mnist")(tasks=2, images_per_task=40).build(0)
    learner = method_settings(method).preset("default", stream.info).changed(changes).build(stream.info, 0)
    held = [learn_task(learner, task.info, task.batches(10), 4, seed=0) for task in stream]
    return held, sum(learner.stored_bytes().values()), learner


def test_a_method_without_state_of_its_own_within_a_task_holds_what_it_keeps():
    held, kept, _ = held_and_kept("er", exemplars=20, hidden_units=[8])
    assert kept <= held[-1] <= kept + ROOM


@pytest.mark.parametrize("members", [1, 4])
def test_merlin_holds_the_moments_and_means_of_its_base_models_besides(members):
    (held, _), _, learner = held_and_kept("merlin", exemplars=20, base_models=members, updates_per_batch=1)
    latents = 4 * members * learner.distribution.sketch.size
    assert held >= 5 * latents  # z, two moments, the running mean and how far z strays from it
    assert bytes_of(learner.state()) < held


def test_it_is_measured_before_the_task_ends():
    stream = stream_settings("split-mnist")(tasks=1, images_per_task=20).build(0)
    learner = method_settings("single").preset("default", stream.info).build(stream.info, 0)
    asked = []
    state = learner.state
    learner.state = lambda: asked.append(learner.learning) or state()
    assert learn_task(learner, stream[0].info, stream[0].batches(10), 2, seed=0) > 0
    assert asked == [True]
    assert torch.is_tensor(learner.state()["method"]["weights"])
