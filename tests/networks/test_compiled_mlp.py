"""The compiled steps are those that `Training` takes."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.compiled_mlp import train
from merlin_cl.networks.mlp import MLP, SHARED_FROM

RATE, DECAY = 1e-3, 1e-3


def draws(seed):
    return torch.Generator().manual_seed(seed)


def batches(members, steps, size, examples, seed, full=False):
    """Places of examples, [M, S, N], some of them -1."""
    places = torch.randint(examples, (members, steps, size), generator=draws(seed))
    missing = torch.rand(members, steps, size, generator=draws(seed + 1)) < 0.4
    return places if full else places.masked_fill(missing, -1)


def compared(network, examples, chosen, allowed, seed):
    """Weights after a step on each batch, by both ways, from the same start, on sparse inputs."""
    members = len(chosen)
    x = torch.rand(examples, *network.input_shape, generator=draws(seed))
    x *= x > 0.6
    y = torch.tensor(allowed)[torch.randint(len(allowed), (examples,), generator=draws(seed + 1))]
    mask = torch.zeros(network.classes, dtype=torch.bool)
    mask[allowed] = True
    bank = Bank(network, network.initial(members, draws(seed + 2)))
    rows, (means, squares) = bank.weights.clone(), torch.zeros(2, *bank.weights.shape)
    training, half = Training(bank, RATE, DECAY, decoupled=False), chosen.shape[1] // 2
    for batch in chosen.unbind(dim=1):
        places = batch.clamp(min=0)
        training.step(x[places], y[places], mask, (batch >= 0).float())
    for part, done in ((chosen[:, :half], 0), (chosen[:, half:], half)):  # in two goes
        given = (rows, means, squares, torch.tensor(network.widths), x.flatten(1), y, part.contiguous(), mask)
        train(*(tensor.numpy() for tensor in given), done, RATE, DECAY)
    return bank.weights, rows


@settings(max_examples=25, deadline=None)
@given(
    members=st.integers(1, 3),
    steps=st.integers(1, 4),
    size=st.integers(1, 12),
    hidden=st.lists(st.integers(1, 20), max_size=3),
    classes=st.integers(2, 12),
    seed=st.integers(0, 99),
)
def test_steps_are_those_of_the_bank_with_and_without_missing_examples(members, steps, size, hidden, classes, seed):
    network = MLP((2, 3), classes, tuple(hidden))
    allowed = sorted({0, classes - 1, seed % classes})
    theirs, ours = compared(network, 9, batches(members, steps, size, 9, seed), allowed, seed)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


def test_the_papers_network_learns_the_same_over_many_steps():
    network = MLP((1, 28, 28), 10)
    theirs, ours = compared(network, 95, batches(2, 48, 10, 95, 0, full=True), list(range(10)), 0)
    assert (ours - theirs).abs().mean() < 1e-6
    x = torch.rand(50, 1, 28, 28, generator=draws(9))
    torch.testing.assert_close(Bank(network, ours).logits(x), Bank(network, theirs).logits(x), rtol=0, atol=1e-3)


def test_members_do_not_depend_on_each_other():
    network, allowed = MLP((4,), 3, (5,)), torch.ones(3, dtype=torch.bool)
    x, y = torch.randn(13, 4, generator=draws(0)), torch.arange(13) % 3
    chosen, start = batches(2, 3, 10, 13, 1), network.initial(2, draws(2))

    def trained(members):
        rows, (means, squares) = start[members].clone(), torch.zeros(2, len(members), network.size)
        given = (rows, means, squares, torch.tensor(network.widths), x, y, chosen[members], allowed)
        train(*(tensor.numpy() for tensor in given), 0, RATE, DECAY)
        return rows

    assert torch.equal(trained([0, 1]), torch.cat([trained([0]), trained([1])]))


def test_a_member_without_examples_is_left_as_it_was():
    network = MLP((4,), 3, (5,))
    start = network.initial(1, draws(0))
    rows, (means, squares) = start.clone(), torch.zeros(2, *start.shape)
    given = (rows, means, squares, torch.tensor(network.widths), torch.ones(1, 4), torch.zeros(1, dtype=torch.long))
    nobody = torch.full((1, 3, 10), -1)
    train(*(tensor.numpy() for tensor in (*given, nobody, torch.ones(3, dtype=torch.bool))), 0, RATE, DECAY)
    assert torch.equal(rows, start)
    assert not means.any()
    assert not squares.any()


@given(seed=st.integers(0, 1000), density=st.sampled_from([0.0, 0.05, 0.2]), inputs=st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_answers_to_mostly_empty_inputs_equal_those_of_separate_networks(seed, density, inputs):
    generator = draws(seed)
    network = MLP((inputs,), 3, (9, 7))
    bank = Bank(network, network.initial(3, generator))
    x = torch.randn(SHARED_FROM, inputs, generator=generator)
    x *= torch.rand(x.shape, generator=generator) < density
    answers = bank.logits(x)
    assert torch.allclose(answers, torch.stack([network.module(row)(x) for row in bank.weights]), atol=1e-5)


def test_only_mostly_empty_inputs_skip_zeros(monkeypatch):
    import merlin_cl.networks.mlp as mlp

    called = []
    monkeypatch.setattr(mlp, "_sums_of_rows", lambda x, weight, bias: called.append(1) or x.new_zeros(2, len(x), 5))
    network = MLP((20,), 3, (5,))
    bank = Bank(network, network.initial(2, draws(0)))
    x = torch.zeros(SHARED_FROM, 20)
    x[:, :5] = 1
    bank.logits(x)
    assert called == [1]
    x[:, 5:] = 1
    bank.logits(x)
    assert called == [1]
