"""A network within the bytes it may take."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.lookup.compression import Compressed, bytes_of, compressed
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet

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
