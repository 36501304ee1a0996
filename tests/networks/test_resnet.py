"""A bank of ResNets is as many separate ones with BatchNorm: in training, in evaluation, statistics included."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from merlin_cl.networks import resnet
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.resnet import ResNet, reduced_resnet18
from merlin_cl.networks.statistics import reestimate_statistics

PAPER = ResNet((3, 32, 32), 10)
SMALL = ResNet((2, 8, 8), 3, maps=(2, 3))


def draws(seed):
    return torch.Generator().manual_seed(seed)


def unsettled(network, members, seed):
    """Initial weights whose norms are not just ones and zeros, so that a mistake in their use shows."""
    weights = network.initial(members, draws(seed))
    for name, view in network.views(weights).items():
        if "norm" in name or name in ("means", "variances"):
            view += torch.rand(view.shape, generator=draws(seed + 1))
    return weights


def state_vector(module):
    return torch.cat([value.flatten().to(module.head.weight.dtype) for value in module.state_dict().values()])


def logits_of(modules, x):
    with torch.no_grad():
        return torch.stack([module.eval()(x) for module in modules])


@pytest.mark.parametrize(("classes", "size"), [(10, 31_307), (100, 34_997)])
def test_the_papers_classifiers_have_their_size(classes, size):
    network = ResNet((3, 32, 32), classes)
    assert network.size == size
    assert network.size - network.learned == 12 + 2 * (5 * 3 + 10 * 3 + 20 * 3 + 40 * 3)


@pytest.mark.parametrize(("classes", "learned", "size"), [(10, 274_980, 276_500), (100, 282_270, 283_790)])
def test_the_larger_backbone_is_a_resnet_18_of_the_papers_class(classes, learned, size):
    network = reduced_resnet18((3, 32, 32), classes)
    assert (network.learned, network.size) == (learned, size)
    assert abs(network.learned - 272_260) < 0.04 * 272_260
    module = network.module(network.initial(1, draws(0))[0])
    assert sum(weight.numel() for weight in module.parameters()) == learned
    convolutions = [layer for layer in module.modules() if isinstance(layer, torch.nn.Conv2d)]
    assert len([layer for layer in convolutions if layer.kernel_size == (3, 3)]) + 1 == 18  # and the head


def test_several_blocks_a_stage_train_as_separate_networks_do():
    network = ResNet((2, 8, 8), 3, maps=(2, 3), blocks_per_stage=2)
    weights, expected, logits, expected_logits = trained_both_ways(network, torch.float64, 0.0, True, True, seed=0)
    torch.testing.assert_close(weights, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-8, rtol=0)


def trained_both_ways(network, dtype, decay, decoupled, shared, seed, taking=None):
    """State and logits after 50 steps, of a bank and of `torch.nn` networks trained one after the other.

    `taking`: the probability with which a member takes an example; each gets at least two.
    """
    members, size, generator = 3, 6, draws(seed)
    bank = Bank(network, unsettled(network, members, seed).to(dtype))
    training = Training(bank, learning_rate=1e-3, weight_decay=decay, decoupled=decoupled)
    alone = [network.module(row) for row in bank.weights]
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimisers = [kind(module.parameters(), lr=1e-3, weight_decay=decay) for module in alone]
    everything = torch.ones(network.classes, dtype=torch.bool)
    for _ in range(50):
        batch = (size,) if shared else (members, size)
        x = torch.rand(*batch, *network.input_shape, generator=generator).to(dtype)
        y = torch.randint(0, network.classes, batch, generator=generator)
        shares = None
        if taking is not None:
            shares = (torch.rand(members, size, generator=generator) < taking).to(dtype)
            shares[:, :2] = 1
        training.step(x, y, everything, shares)
        for member, (module, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            mine = slice(None) if shares is None else shares[member].bool()
            own_x, own_y = (x[mine], y[mine]) if shared else (x[member][mine], y[member][mine])
            optimiser.zero_grad()
            functional.cross_entropy(module(own_x), own_y).backward()
            optimiser.step()
    states = torch.stack([state_vector(module) for module in alone])
    fresh = torch.rand(7, *network.input_shape, generator=generator).to(dtype)
    return bank.weights[:, network.torch_order()], states, bank.logits(fresh), logits_of(alone, fresh)


@pytest.mark.parametrize("taking", [None, 0.6])
@pytest.mark.parametrize(
    ("decay", "decoupled", "shared"), [(0.0, False, False), (1e-2, False, True), (1e-2, True, True)]
)
def test_training_equals_separate_networks_with_torch_adam(decay, decoupled, shared, taking):
    network = ResNet((3, 8, 8), 5, maps=(3, 5, 8))
    both = trained_both_ways(network, torch.float64, decay, decoupled, shared, 0, taking)
    weights, expected, logits, expected_logits = both
    torch.testing.assert_close(weights, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-8, rtol=0)


def test_members_of_a_single_map_train_as_separate_networks_do():
    network = ResNet((1, 6, 6), 3, maps=(1, 2))
    both = trained_both_ways(network, torch.float64, 0.0, decoupled=True, shared=False, seed=0, taking=0.6)
    weights, expected, logits, expected_logits = both
    torch.testing.assert_close(weights, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-8, rtol=0)


def test_training_the_papers_classifier_equals_separate_networks():
    both = trained_both_ways(PAPER, torch.float64, 1e-3, decoupled=True, shared=True, seed=1)
    weights, expected, logits, expected_logits = both
    torch.testing.assert_close(weights, expected, atol=1e-8, rtol=0)
    torch.testing.assert_close(logits, expected_logits, atol=1e-8, rtol=0)


def test_one_member_learns_from_large_images_as_it_does_beside_another(monkeypatch):
    # By torch's convolutions it goes another way through its shortcuts when alone: the usual one would end the process in oneDNN.
    monkeypatch.setattr(resnet, "_compiled", lambda x: False)
    network, everything = ResNet((3, 84, 84), 10), torch.ones(10, dtype=torch.bool)
    x, y = torch.rand(5, *network.input_shape, generator=draws(0)), torch.randint(0, 10, (5,), generator=draws(1))
    banks = [Bank(network, unsettled(network, 1, 2).repeat(members, 1)) for members in (1, 2)]
    for bank in banks:
        Training(bank, learning_rate=1e-3, optimiser="sgd").step(x, y, everything)
    torch.testing.assert_close(banks[0].weights[0], banks[1].weights[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("taking", [None, 0.6])
def test_single_precision_agrees_within_rounding(taking):
    """One step. A ReLU whose input is zero but for rounding may go either way, so gradients agree only as a whole."""
    bank = Bank(PAPER, unsettled(PAPER, 3, 0))
    alone = [PAPER.module(row) for row in bank.weights]
    x, y = torch.rand(8, 3, 32, 32, generator=draws(1)), torch.randint(0, 10, (8,), generator=draws(2))
    shares = None if taking is None else (torch.rand(3, 8, generator=draws(3)) < taking).float()
    training = Training(bank, learning_rate=0.0)
    losses = training.step(x, y, torch.ones(10, dtype=torch.bool), shares)
    moments = training.state()["exp_avg"]  # a tenth of the gradient
    for member, module in enumerate(alone):
        mine = slice(None) if shares is None else shares[member].bool()
        loss = functional.cross_entropy(module(x[mine]), y[mine])
        loss.backward()
        torch.testing.assert_close(losses[member], loss.detach(), atol=1e-5, rtol=0)
        expected = torch.cat([weight.grad.flatten() for weight in module.parameters()])
        weights = torch.cat([weight.flatten() * 10 for weight in PAPER.module(moments[member]).parameters()])
        assert (weights - expected).norm() < 1e-3 * expected.norm()
    states = torch.stack([state_vector(module) for module in alone])
    torch.testing.assert_close(bank.weights[:, PAPER.torch_order()], states, atol=1e-5, rtol=0)


@settings(max_examples=20, deadline=None)
@given(
    members=st.integers(1, 4),
    size=st.integers(1, 5),
    shape=st.sampled_from([(1, 32, 32), (3, 32, 32), (3, 84, 84), (1, 28, 28), (2, 9, 12)]),
    seed=st.integers(0, 2**31),
)
def test_evaluation_equals_separate_networks(members, size, shape, seed):
    network = ResNet(shape, 10)
    bank = Bank(network, unsettled(network, members, seed))
    x = torch.randn(size, *shape, generator=draws(seed + 2))
    expected = logits_of([network.module(row) for row in bank.weights], x)
    torch.testing.assert_close(bank.logits(x), expected, atol=1e-4, rtol=1e-4)


def test_answers_do_not_depend_on_how_many_are_asked_at_once(monkeypatch):
    bank = Bank(SMALL, unsettled(SMALL, 3, 0))
    x = torch.rand(8, 2, 8, 8, generator=draws(1))
    together = bank.logits(x)
    monkeypatch.setattr(ResNet, "examples_at_once", 9)  # three by three
    torch.testing.assert_close(bank.logits(x), together)


def test_a_sampled_variance_below_zero_counts_as_zero():
    weights = SMALL.initial(2, draws(0))
    SMALL.views(weights)["variances"].fill_(-1.0)
    logits = Bank(SMALL, weights).logits(torch.rand(4, 2, 8, 8, generator=draws(1)))
    SMALL.views(weights)["variances"].fill_(0.0)
    assert logits.isfinite().all()
    assert torch.equal(logits, Bank(SMALL, weights).logits(torch.rand(4, 2, 8, 8, generator=draws(1))))


def test_no_inputs_give_no_answers():
    assert Bank(SMALL, SMALL.initial(3, draws(0))).logits(torch.rand(0, 2, 8, 8)).shape == (3, 0, 3)


def test_evaluation_leaves_the_statistics_alone():
    bank = Bank(SMALL, unsettled(SMALL, 2, 0))
    before = bank.weights.clone()
    bank.logits(torch.rand(4, 2, 8, 8))
    assert torch.equal(bank.weights, before)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), shares=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_shares_count_examples_and_leave_idle_members_alone(seed, shares):
    """A share of n is the example n times over, in the statistics too; a member without examples keeps everything."""
    taken = torch.tensor(shares, dtype=torch.float64).view(2, 3)
    x, y = torch.randn(3, 2, 8, 8, generator=draws(seed)).double(), torch.tensor([0, 1, 2])
    everything = torch.ones(3, dtype=torch.bool)
    bank = Bank(SMALL, unsettled(SMALL, 2, seed).double())
    training = Training(bank, learning_rate=1e-2)
    training.step(x, y, everything)  # moments are no longer zero
    before, moments = bank.weights.clone(), training.state()
    losses = training.step(x, y, everything, taken)
    assert losses.isfinite().all()
    for member in range(2):
        repeated = taken[member].long()
        if repeated.sum() == 0:
            assert torch.equal(bank.weights[member], before[member])
            assert torch.equal(training.state()["exp_avg"][member], moments["exp_avg"][member])
            continue
        alone = Bank(SMALL, before[member : member + 1].clone())
        lone = Training(alone, learning_rate=1e-2)
        lone.restore({name: value[member : member + 1] if value.dim() else value for name, value in moments.items()})
        lone.step(x.repeat_interleave(repeated, 0), y.repeat_interleave(repeated), everything)
        torch.testing.assert_close(bank.weights[member], alone.weights[0], atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("decoupled", [True, False])
def test_decay_and_adam_leave_statistics_and_their_moments_alone(decoupled):
    bank = Bank(SMALL, unsettled(SMALL, 2, 0))
    training = Training(bank, learning_rate=0.0, weight_decay=0.5, decoupled=decoupled)
    training.step(torch.rand(4, 2, 8, 8), torch.tensor([0, 1, 2, 0]), torch.ones(3, dtype=torch.bool))
    state = training.state()
    assert not state["exp_avg"][:, SMALL.learned :].any()
    assert not state["exp_avg_sq"][:, SMALL.learned :].any()
    assert state["exp_avg"][:, : SMALL.learned].any()


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("at_once", [1, 20, 1000])
def test_reestimated_statistics_are_those_of_the_inputs(own, at_once, monkeypatch):
    monkeypatch.setattr(ResNet, "examples_at_once", at_once)
    bank = Bank(SMALL, unsettled(SMALL, 3, 0).double())
    before = bank.weights.clone()
    x = torch.randn(*((3,) if own else ()), 9, 2, 8, 8, generator=draws(1), dtype=torch.float64)
    reestimate_statistics(bank, x)
    assert torch.equal(bank.weights[:, : SMALL.learned], before[:, : SMALL.learned])
    for member in range(3):
        module = SMALL.module(before[member])
        for layer in module.modules():
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.momentum = 1.0
        with torch.no_grad():
            module(x[member] if own else x)
        torch.testing.assert_close(bank.weights[member][SMALL.torch_order()], state_vector(module), atol=1e-10, rtol=0)


def test_weighted_statistics_are_those_of_inputs_that_come_several_times():
    weighted, repeated = (Bank(SMALL, unsettled(SMALL, 3, 0).double()) for _ in range(2))
    x = torch.randn(4, 2, 8, 8, generator=draws(1), dtype=torch.float64)
    times = torch.tensor([1, 3, 0, 4])
    reestimate_statistics(weighted, x, times.double())
    reestimate_statistics(repeated, x.repeat_interleave(times, dim=0))
    torch.testing.assert_close(weighted.weights, repeated.weights, rtol=1e-9, atol=1e-12)


def test_apply_is_differentiable_in_the_weights():
    network = ResNet((1, 4, 4), 2, maps=(1, 2))
    flat = unsettled(network, 2, 0).double().requires_grad_()
    x = torch.randn(2, 3, 1, 4, 4, dtype=torch.float64, generator=draws(1))
    assert torch.autograd.gradcheck(lambda weights: network.apply(weights, x), (flat,))


def test_state_resumes_training_exactly():
    x, y, everything = torch.rand(4, 2, 8, 8), torch.tensor([0, 1, 1, 2]), torch.ones(3, dtype=torch.bool)
    bank = Bank(SMALL, SMALL.initial(3, draws(0)))
    training = Training(bank, learning_rate=1e-2, weight_decay=1e-3)
    training.step(x, y, everything)
    copy = Bank(SMALL, bank.weights.clone())
    resumed = Training(copy, learning_rate=1e-2, weight_decay=1e-3)
    resumed.restore(training.state())
    training.step(x, y, everything)
    resumed.step(x, y, everything)
    assert torch.equal(bank.weights, copy.weights)


def test_torch_order_is_that_of_a_state_dict():
    row = unsettled(PAPER, 1, 0)[0]
    assert torch.equal(row[PAPER.torch_order()], state_vector(PAPER.module(row)))
    assert list(PAPER.module(row).state_dict()) == list(PAPER.torch_views(row.unsqueeze(0)))


def test_initial_weights_are_distributed_as_torch_draws_them():
    drawn = PAPER.module(PAPER.initial(1, draws(0))[0]).state_dict()
    fresh = type(PAPER.module(PAPER.initial(1, draws(0))[0]))(3, 10, PAPER.maps).state_dict()
    for name, expected in fresh.items():
        if "norm" in name:
            assert torch.equal(drawn[name], expected), name
        else:  # uniform: within a bound that the largest of many comes close to
            bound = 1 / (40 if "head" in name else expected[0].numel()) ** 0.5
            assert drawn[name].abs().max() <= bound
            assert expected.abs().max() <= bound
            if expected.numel() > 100:
                assert drawn[name].abs().max() > 0.9 * bound
                assert drawn[name].mean().abs() < 0.15 * bound


def test_inputs_that_are_no_images_are_refused():
    with pytest.raises(ValueError, match=r"images \[channels, height, width\]; this input is \(784,\)"):
        ResNet((784,), 10)
