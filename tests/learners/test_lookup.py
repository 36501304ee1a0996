"""The control `lookup`: one network a task within its bytes, and no distribution."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.checks.clouds import STREAM, TASKS, examples, learned
from merlin_cl.errors import UsageError
from merlin_cl.learners.lookup.compression import Compressed, bytes_of, compressed
from merlin_cl.learners.lookup.settings import LookupSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet
from merlin_cl.protocol import StreamInfo

SMALL = LookupSettings(hidden_units=(16,), exemplars=12, learning_rate=2e-2, updates_per_batch=5, replay=4)
NETWORKS = [MLP((3, 4), 5, (20,)), ResNet((3, 8, 8), 4, maps=(3, 4))]


def offsets(network, seed=0):
    return torch.randn(network.learned, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("network", NETWORKS, ids=["mlp", "resnet"])
@settings(max_examples=10, deadline=None)
@given(share=st.floats(0.2, 1.0), seed=st.integers(0, 9))
def test_a_network_is_stored_in_the_bytes_it_may_take_and_comes_back(network, share, seed):
    wanted, most = offsets(network, seed), int(share * 2 * network.learned)
    stored = compressed(wanted, network, most)
    assert stored.bytes == bytes_of(network, stored.form) <= most
    assert (stored.offsets(network) - wanted).norm() < wanted.norm()
    assert torch.equal(Compressed.restored(stored.state()).offsets(network), stored.offsets(network))


@pytest.mark.parametrize("network", NETWORKS, ids=["mlp", "resnet"])
def test_more_bytes_bring_it_nearer(network):
    wanted = offsets(network)
    tries = [compressed(wanted, network, int(share * network.learned)) for share in (0.3, 0.5, 2.0)]
    errors = [float((one.offsets(network) - wanted).norm()) for one in tries]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.15 * wanted.norm()


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e30])
def test_whatever_has_been_learned_is_stored_as_finite_numbers(size):
    network = NETWORKS[0]
    for most in (60, 200, 10_000):
        assert torch.isfinite(compressed(size * offsets(network), network, most).offsets(network)).all()


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
