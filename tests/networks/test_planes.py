"""Residual networks as machine code are the ones that torch's own convolutions compute."""

import gc

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.networks import resnet
from merlin_cl.networks.bank import Bank, Gradients, Training
from merlin_cl.networks.network import BatchUse
from merlin_cl.networks.resnet import ResNet
from merlin_cl.networks.statistics import reestimate_statistics

NETWORKS = st.builds(
    ResNet,
    st.sampled_from([(1, 4, 4), (3, 8, 8), (2, 9, 12), (1, 5, 7), (3, 1, 1), (1, 3, 17)]),
    st.just(3),
    st.sampled_from([(2, 3), (5, 10), (6,), (3, 4, 7), (10, 5)]),
    st.integers(1, 2),
)


def draws(seed):
    return torch.Generator().manual_seed(seed)


def unsettled(network, members, seed):
    """Initial weights whose norms are not just ones and zeros, so that a mistake in their use shows."""
    weights = network.initial(members, draws(seed)).double()
    for name, view in network.views(weights).items():
        if "norm" in name or name in ("means", "variances"):
            view += torch.rand(view.shape, generator=draws(seed + 1)).double()
    return weights


def both_ways(compute):
    """What `compute` gives by machine code and by torch's own convolutions."""
    with pytest.MonkeyPatch.context() as patch:
        compiled = compute()
        patch.setattr(resnet, "_compiled", lambda x: False)
        return compiled, compute()


@settings(max_examples=30, deadline=None)
@given(
    network=NETWORKS, members=st.integers(1, 3), count=st.integers(1, 9), own=st.booleans(), seed=st.integers(0, 999)
)
def test_evaluation_is_that_of_torch(network, members, count, own, seed):
    flat = unsettled(network, members, seed)
    x = torch.randn(members if own else 1, count, *network.input_shape, generator=draws(seed)).double()
    with torch.no_grad():
        compiled, expected = both_ways(lambda: network.apply(flat, x.expand(members, *x.shape[1:])))
    torch.testing.assert_close(compiled, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    network=NETWORKS,
    members=st.integers(1, 3),
    count=st.integers(2, 9),
    grids=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    seed=st.integers(0, 999),
)
def test_what_stages_show_and_what_a_loss_of_it_asks_of_weights_is_that_of_torch(network, members, count, grids, seed):
    grids = [*grids[: len(network.maps) - 1], 1 + grids[-1]]
    x = torch.randn(members, count, *network.input_shape, generator=draws(seed)).double()

    def shown():
        gradients = Gradients(Bank(network, unsettled(network, members, seed)))
        weights = gradients.bank.weights
        in_evaluation = [stage.detach() for stage in network.stages(gradients._weights, x, None, grids)]
        stages = network.stages(gradients._weights, x, BatchUse(), grids)
        aims = [torch.randn(stage.shape, generator=draws(seed + 1)).double() for stage in stages]
        loss = sum((stage * aim).sum() for stage, aim in zip(stages, aims, strict=True))
        loss.backward()
        return in_evaluation, [stage.detach() for stage in stages], gradients.flat, weights.detach()

    compiled, expected = both_ways(shown)
    torch.testing.assert_close(compiled[:2], expected[:2], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(compiled[2:], expected[2:], rtol=1e-6, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(
    network=NETWORKS,
    members=st.integers(1, 3),
    count=st.integers(2, 9),
    own=st.booleans(),
    taking=st.booleans(),
    seed=st.integers(0, 999),
)
def test_a_training_step_is_that_of_torch(network, members, count, own, taking, seed):
    x = torch.randn(*([members] if own else []), count, *network.input_shape, generator=draws(seed)).double()
    y = torch.randint(0, 3, x.shape[: 2 if own else 1], generator=draws(seed + 1))
    shares = torch.randint(0, 3, (members, count), generator=draws(seed + 2)).double() if taking else None

    def stepped():
        bank = Bank(network, unsettled(network, members, seed))
        training = Training(bank, learning_rate=0.1, optimiser="sgd")
        losses = training.step(x, y, torch.ones(3, dtype=torch.bool), shares)
        return bank.weights, losses

    (weights, losses), (expected, expected_losses) = both_ways(stepped)
    torch.testing.assert_close(losses, expected_losses, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(
        weights, expected, rtol=1e-6, atol=1e-7
    )  # where a channel is constant, 1 / s is over 300


def test_the_papers_classifier_in_single_precision_is_torchs_within_rounding():
    network = ResNet((3, 32, 32), 10)
    flat = unsettled(network, 2, 0).float()
    x = torch.rand(1, 30, 3, 32, 32, generator=draws(1)).expand(2, -1, -1, -1, -1)
    with torch.no_grad():
        compiled, expected = both_ways(lambda: network.apply(flat, x))
    torch.testing.assert_close(compiled, expected, rtol=1e-4, atol=1e-5)


def test_reestimated_statistics_are_those_of_torch():
    network = ResNet((2, 9, 12), 3, maps=(3, 5))
    x, weights = torch.randn(7, 2, 9, 12, generator=draws(0)).double(), torch.rand(7, generator=draws(1)).double()

    def reestimated():
        bank = Bank(network, unsettled(network, 2, 2))
        reestimate_statistics(bank, x, weights / weights.mean())
        return bank.weights

    compiled, expected = both_ways(reestimated)
    torch.testing.assert_close(compiled, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_shows_in_the_answer_of_its_example_alone(bad):
    network = ResNet((1, 8, 8), 3, maps=(5, 10))
    bank = Bank(network, unsettled(network, 2, 0))
    x = torch.randn(4, 1, 8, 8, generator=draws(0)).double()
    x[1, 0, 3, 3] = bad
    finite = bank.logits(x).isfinite().all(dim=2)  # [M, N]
    assert finite.tolist() == [[True, False, True, True]] * 2


def test_the_gradient_of_what_is_no_number_is_none():
    network = ResNet((1, 8, 8), 3, maps=(5, 10))
    training = Training(Bank(network, unsettled(network, 1, 0)), learning_rate=0.1)
    x = torch.full((4, 1, 8, 8), float("nan"), dtype=torch.float64)
    training.step(x, torch.tensor([0, 1, 2, 0]), torch.ones(3, dtype=torch.bool))
    assert training.bank.weights[:, : network.learned].isnan().any()


@pytest.mark.parametrize("read", [False, True], ids=["by its labels", "by what its stages show"])
def test_a_step_leaves_nothing_for_the_garbage_collector(read):
    """A pass that refers to itself would hold its activations until some later time."""
    network = ResNet((1, 8, 8), 3, maps=(5, 10))
    training = Training(Bank(network, unsettled(network, 2, 0)), learning_rate=0.1)
    x, y, everything = torch.randn(2, 4, 1, 8, 8).double(), torch.tensor([[0, 1, 2, 0]] * 2), torch.ones(3) > 0

    def step():
        if read:
            sum(stage.sum() for stage in network.stages(training._weights, x, BatchUse(), [2, 1])).backward()
        else:
            training.step(x, y, everything)

    step()
    gc.collect()
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()
