"""Both ways of training classifiers take the same steps, whoever takes which examples."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.merlin_paper.training import NOBODY, _ByBank, _Compiled, batches_of, training_of
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet

NETWORK = MLP((2, 2), 3, (5,))


def draws(seed):
    return torch.Generator().manual_seed(seed)


def both():
    """A training of either kind, from the same weights."""
    banks = [Bank(NETWORK, NETWORK.initial(2, draws(0))) for _ in range(2)]
    return _ByBank(banks[0], 1e-2, 1e-3), _Compiled(banks[1], NETWORK, 1e-2, 1e-3), banks


@settings(max_examples=20, deadline=None)
@given(steps=st.integers(1, 4), size=st.integers(1, 6), missing=st.floats(0, 1), seed=st.integers(0, 99))
def test_both_ways_agree(steps, size, missing, seed):
    x, y = torch.randn(7, 2, 2, generator=draws(seed)), torch.randint(2, (7,), generator=draws(seed))
    batches = torch.randint(7, (2, steps, size), generator=draws(seed + 1))
    batches[torch.rand(batches.shape, generator=draws(seed + 2)) < missing] = NOBODY
    allowed = torch.tensor([True, True, False])
    by_bank, compiled, banks = both()
    for training in (by_bank, compiled):
        training.learn(x, y, batches, allowed)
    torch.testing.assert_close(banks[0].weights, banks[1].weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("which", [0, 1], ids=["bank", "compiled"])
def test_it_goes_on_where_a_state_was_taken(which):
    x, y, allowed = (
        torch.randn(4, 2, 2, generator=draws(1)),
        torch.tensor([0, 1, 2, 0]),
        torch.ones(3, dtype=torch.bool),
    )
    batches = batches_of(torch.arange(4).repeat(2, 1), 2)
    *trainings, banks = both()
    trainings[which].learn(x, y, batches, allowed)
    *others, copies = both()
    others[which].restore(trainings[which].state())
    copies[which].weights.copy_(banks[which].weights)
    for training in (trainings[which], others[which]):
        training.learn(x, y, batches, allowed)
    assert torch.equal(banks[which].weights, copies[which].weights)


def test_only_mlps_on_a_cpu_are_compiled():
    resnet = ResNet((3, 8, 8), 2)
    assert isinstance(training_of(Bank(NETWORK, NETWORK.initial(1, draws(0))), 1e-3, 0.0), _Compiled)
    assert isinstance(training_of(Bank(resnet, resnet.initial(1, draws(0))), 1e-3, 0.0), _ByBank)


@settings(max_examples=20, deadline=None)
@given(members=st.integers(1, 3), count=st.integers(1, 25), size=st.integers(1, 10))
def test_batches_hold_every_example_once_in_the_order_given(members, count, size):
    order = torch.rand(members, count, generator=draws(0)).argsort(dim=1)
    batches = batches_of(order, size)
    assert batches.shape == (members, -(-count // size), size)
    for row, batch in zip(order, batches, strict=True):
        assert torch.equal(batch[batch != NOBODY], row)
