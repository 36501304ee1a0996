"""A bank of M is M separate networks: the same answers, the same gradients, the same training."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.mlp import MLP

PAPER = MLP((1, 28, 28), 10)


def draws(seed):
    return torch.Generator().manual_seed(seed)


def test_the_papers_classifier_has_its_size():
    assert PAPER.size == 89_610


def trained_both_ways(dtype, decay, decoupled, seed):
    """Weights and logits after 50 steps, of a bank and of `torch.nn` networks trained one after the other."""
    members, size, generator = 5, 10, draws(seed)
    bank = Bank(PAPER, PAPER.initial(members, generator).to(dtype))
    training = Training(bank, learning_rate=1e-3, weight_decay=decay, decoupled=decoupled)
    alone = [PAPER.module(row).to(dtype) for row in bank.weights]
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimisers = [kind(module.parameters(), lr=1e-3, weight_decay=decay) for module in alone]
    everything = torch.ones(10, dtype=torch.bool)
    for _ in range(50):
        x = torch.rand(members, size, 1, 28, 28, generator=generator).to(dtype)
        y = torch.randint(0, 10, (members, size), generator=generator)
        training.step(x, y, everything)
        for member, (module, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            optimiser.zero_grad()
            functional.cross_entropy(module(x[member]), y[member]).backward()
            optimiser.step()
    vectors = [torch.nn.utils.parameters_to_vector(module.parameters()).detach() for module in alone]
    with torch.no_grad():
        fresh = torch.rand(20, 1, 28, 28, generator=generator).to(dtype)
        logits = torch.stack([module(fresh) for module in alone])
    return bank.weights[:, PAPER.torch_order()], torch.stack(vectors), bank.logits(fresh), logits


@pytest.mark.parametrize(("decay", "decoupled"), [(0.0, False), (1e-3, False), (1e-3, True)])
@pytest.mark.parametrize("seed", [0, 1])
def test_training_equals_separate_networks_with_torch_adam(decay, decoupled, seed):
    weights, expected, logits, expected_logits = trained_both_ways(torch.float64, decay, decoupled, seed)
    torch.testing.assert_close(weights, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-8, rtol=0)


def test_single_precision_agrees_within_rounding():
    """Adam turns the rounding of a nearly zero gradient into part of a step: a weight in ten thousand may differ."""
    weights, expected, logits, expected_logits = trained_both_ways(torch.float32, 0.0, False, seed=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-5, rtol=0)
    assert ((weights - expected).abs() > 1e-5).float().mean() < 1e-4


@settings(max_examples=20, deadline=None)
@given(
    members=st.integers(1, 4),
    size=st.integers(1, 5),
    hidden=st.lists(st.integers(1, 6), max_size=3).map(tuple),
    seed=st.integers(0, 2**31),
)
def test_logits_equal_separate_networks(members, size, hidden, seed):
    network = MLP((2, 3), 4, hidden)
    bank = Bank(network, network.initial(members, draws(seed)))
    x = torch.randn(size, 2, 3, generator=draws(seed + 1))
    with torch.no_grad():
        expected = torch.stack([network.module(row)(x) for row in bank.weights])
    torch.testing.assert_close(bank.logits(x), expected, atol=1e-5, rtol=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), shares=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_shares_count_examples_and_leave_idle_members_alone(seed, shares):
    """A share of n is the example n times over; a member without examples does not move, moments included."""
    network = MLP((3,), 2, (4,))
    taken = torch.tensor(shares, dtype=torch.float32).view(2, 3)
    x, y = torch.randn(3, 3, generator=draws(seed)), torch.tensor([0, 1, 1])
    everything = torch.ones(2, dtype=torch.bool)
    bank = Bank(network, network.initial(2, draws(seed)))
    training = Training(bank, learning_rate=1e-2)
    training.step(x, y, everything)  # moments are no longer zero
    before, moments = bank.weights.clone(), training.state()
    training.step(x, y, everything, taken)
    for member in range(2):
        repeated = taken[member].long()
        if repeated.sum() == 0:
            assert torch.equal(bank.weights[member], before[member])
            assert torch.equal(training.state()["exp_avg"][member], moments["exp_avg"][member])
            continue
        alone = Bank(network, before[member : member + 1].clone())
        lone = Training(alone, learning_rate=1e-2)
        lone.restore({name: value[member : member + 1] if value.dim() else value for name, value in moments.items()})
        lone.step(x.repeat_interleave(repeated, 0), y.repeat_interleave(repeated), everything)
        torch.testing.assert_close(bank.weights[member], alone.weights[0], atol=1e-6, rtol=1e-5)


def test_classes_that_are_not_allowed_get_no_gradient():
    network = MLP((3,), 4, ())
    bank = Bank(network, network.initial(1, draws(0)))
    before = bank.weights.clone()
    allowed = torch.tensor([True, True, False, False])
    Training(bank, learning_rate=0.1).step(torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1]), allowed)
    moved = (network.views(bank.weights)["0.weight"] != network.views(before)["0.weight"])[0].any(dim=0)
    assert moved.tolist() == [True, True, False, False]


def test_apply_is_differentiable_in_the_weights():
    network = MLP((3,), 2, (3,))
    flat = network.initial(2, draws(0)).double().requires_grad_()
    x = torch.randn(2, 4, 3, dtype=torch.float64, generator=draws(1))
    assert torch.autograd.gradcheck(lambda weights: network.apply(weights, x), (flat,))


def test_state_resumes_training_exactly():
    network = MLP((3,), 2, (4,))
    x, y, everything = torch.randn(6, 3), torch.tensor([0, 1, 1, 0, 1, 0]), torch.ones(2, dtype=torch.bool)
    bank = Bank(network, network.initial(3, draws(0)))
    training = Training(bank, learning_rate=1e-2)
    training.step(x, y, everything)
    copy = Bank(network, bank.weights.clone())
    resumed = Training(copy, learning_rate=1e-2)
    resumed.restore(training.state())
    training.step(x, y, everything)
    resumed.step(x, y, everything)
    assert torch.equal(bank.weights, copy.weights)


def test_torch_order_is_that_of_a_module():
    network = MLP((3,), 2, (4,))
    row = network.initial(1, draws(0))[0]
    expected = torch.nn.utils.parameters_to_vector(network.module(row).parameters())
    assert torch.equal(row[network.torch_order()], expected.detach())


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"expected \[M, 89610\]"):
        Bank(PAPER, torch.zeros(2, 5))
