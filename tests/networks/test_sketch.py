"""Weights as a function of few numbers: what a sketch promises."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet
from merlin_cl.networks.sketch import Sketch, grown


def generators(*purpose):
    return torch.Generator().manual_seed(abs(hash(purpose)) % 2**31)


def sketched(network, numbers, outputs=None, first=None):
    return Sketch(network, numbers, generators, first or network, outputs or list(range(network.classes)))


NETWORKS = [MLP((3, 4), 5, (7,)), ResNet((3, 8, 8), 4, maps=(2, 3))]


@settings(deadline=None, max_examples=30)
@given(at=st.integers(0, 1), numbers=st.integers(1, 400))
def test_the_gradient_is_the_transpose_of_the_offsets(at, numbers):
    """<S z, g> = <z, S' g> for all z and g."""
    sketch = sketched(NETWORKS[at], numbers)
    z, g = torch.randn(3, sketch.size), torch.randn(3, NETWORKS[at].size)
    left = (sketch.offsets(z) * g[:, : NETWORKS[at].learned]).sum(dim=1)
    torch.testing.assert_close(left, (z * sketch.gradient(g)).sum(dim=1), rtol=1e-4, atol=1e-4)


def test_as_many_numbers_as_weights_leave_every_weight_free():
    for network in NETWORKS:
        sketch = sketched(network, network.size)
        offsets = torch.randn(2, network.learned)
        assert sketch.size == network.learned
        assert torch.equal(sketch.offsets(sketch.gradient(offsets)), offsets)


def test_vectors_keep_a_number_each_and_matrices_share_theirs_evenly():
    network = MLP((10, 10), 5, (30,))
    sketch = sketched(network, 400)
    numbers = sketch.offsets(torch.arange(1.0, sketch.size + 1).unsqueeze(0))[0].abs()
    views = network.views(numbers.unsqueeze(0))
    assert len(views["0.bias"].unique()) == 30
    taken = views["0.weight"].unique(return_counts=True)[1]
    assert taken.max() - taken.min() <= 1
    assert sketch.size <= 420


def test_a_head_that_grows_changes_no_number():
    """The offsets of old weights are the same in the wider network, whatever is added."""
    narrow_network, wide_network = MLP((3, 4), 3, (7,)), MLP((3, 4), 6, (7,))
    narrow = sketched(narrow_network, 60, [0, 1, "stranger"])
    wide = sketched(wide_network, 60, [0, 1, 2, 3, 4, "stranger"], first=narrow_network)
    outputs = [0, 1, 5]
    z = torch.randn(2, narrow.size)
    before = narrow_network.views(torch.nn.functional.pad(narrow.offsets(z), (0, 0)))
    after = wide_network.views(wide.offsets(grown(z, wide.places(narrow, outputs), wide.size)))
    for name, value in before.items():
        assert torch.equal(value, after[name][..., outputs] if name in narrow_network.head else after[name])
    assert not after["1.weight"][..., 2:5].any()


@pytest.fixture
def with_short_forms(monkeypatch):
    monkeypatch.setattr("merlin_cl.networks.sketch.SHORTEST", 20)


@pytest.mark.usefixtures("with_short_forms")
@pytest.mark.parametrize("network", NETWORKS)
def test_the_short_form_is_the_sketch_of_half_the_numbers_and_means_the_same_when_lengthened(network):
    long = sketched(network, 90)
    half = Sketch(network, 45, generators, network, list(range(network.classes)), with_short=False)
    short = long.short
    assert short.groups == half.groups
    assert long.size > short.size
    z = torch.randn(2, short.size)
    assert torch.equal(half.offsets(z), short.offsets(z))
    assert torch.equal(long.offsets(long.lengthened(z)), short.offsets(z))


@pytest.mark.usefixtures("with_short_forms")
@pytest.mark.parametrize("network", NETWORKS)
def test_the_shortened_z_is_the_nearest_that_there_is(network):
    long = sketched(network, 90)
    z = torch.randn(3, long.size, dtype=torch.float64)
    short = long.shortened(z)
    rest = z - long.lengthened(short)
    other = torch.randn(3, long.short.size, dtype=torch.float64)
    torch.testing.assert_close((rest * long.lengthened(other)).sum(dim=1), torch.zeros(3, dtype=torch.float64))
    torch.testing.assert_close(long.shortened(long.lengthened(other)), other)


def test_a_z_that_would_be_too_short_or_is_as_long_as_psi_has_no_short_form():
    network = MLP((10, 10), 5, (200,))
    assert sketched(network, 15_999).short is None
    assert sketched(network, 16_000).short is not None
    assert sketched(network, network.size).short is None
