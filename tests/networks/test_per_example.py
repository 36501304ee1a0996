"""A loss of a method's own, features, and gradients of single examples, against the plain ways to the same numbers."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from merlin_cl.networks.bank import Bank, Training, cross_entropy_slope
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.per_example import example_gradients, squared_gradients
from merlin_cl.networks.resnet import ResNet


def own_network(input_shape, classes):
    layers = [nn.Conv2d(input_shape[0], 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(3 * input_shape[1] * input_shape[2], classes))


NETWORKS = [MLP((2, 3), 4, (5, 6)), ResNet((2, 8, 8), 4, (3, 4)), ModuleNetwork(own_network, (2, 5, 5), 4)]
EVERYTHING = torch.ones(4, dtype=torch.bool)


@pytest.fixture(params=NETWORKS, ids=["mlp", "resnet", "own"])
def network(request):
    return request.param


def examples(network, count=6, seed=1):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(count, *network.input_shape, generator=generator)
    return x, torch.randint(0, network.classes, (count,), generator=generator)


def bank_of(network, members=1):
    return Bank(network, network.initial(members, torch.Generator().manual_seed(0)))


def test_a_gradient_and_an_update_are_a_step(network):
    x, y = examples(network)
    own, plain = bank_of(network), bank_of(network)
    by_hand, by_step = Training(own, 1e-2), Training(plain, 1e-2)
    for _ in range(3):
        by_hand.gradient(x.unsqueeze(0), lambda logits: functional.cross_entropy(logits[0], y))
        by_hand.update()
        by_step.step(x, y, EVERYTHING)
    assert torch.equal(own.weights, plain.weights)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_a_foreseen_step_is_the_step_and_changes_nothing(network, optimiser):
    x, y = examples(network)
    bank = bank_of(network)
    training = Training(bank, 1e-2, weight_decay=1e-2, optimiser=optimiser)
    training.step(x, y, EVERYTHING)
    weights, state = bank.weights.clone(), training.state()
    foreseen = training.foreseen(x, y, EVERYTHING)
    assert torch.equal(bank.weights, weights)
    assert all(torch.equal(value, state[name]) for name, value in training.state().items())
    training.step(x, y, EVERYTHING)
    assert torch.equal(bank.weights, foreseen.weights)


def test_gradients_of_groups_are_those_of_each_group_by_itself():
    network = NETWORKS[0]
    (x, y), bank = examples(network), bank_of(network)
    training, sizes = Training(bank, 1e-2), [3, 1, 2]
    expected = [
        training.gradient(inputs.unsqueeze(0), lambda logits, y=labels: functional.cross_entropy(logits[0], y)).clone()
        for inputs, labels in zip(x.split(sizes), y.split(sizes), strict=True)
    ]
    weighing = torch.tensor([1 / size for size in sizes for _ in range(size)])
    gradients = network.group_gradients(
        bank.weights[0], x, sizes, lambda logits: cross_entropy_slope(logits, y, EVERYTHING, weighing)[0]
    )
    torch.testing.assert_close(gradients, torch.cat(expected))


def test_plain_descent_follows_the_gradient_as_the_caller_leaves_it(network):
    x, y = examples(network)
    bank = bank_of(network)
    training = Training(bank, 0.5, optimiser="sgd")
    gradient = training.gradient(x.unsqueeze(0), lambda logits: functional.cross_entropy(logits[0], y))
    gradient *= -2
    before = bank.weights.clone()
    training.update()
    learned = network.learned
    torch.testing.assert_close(bank.weights[:, :learned], (before - 0.5 * gradient)[:, :learned])
    assert torch.equal(bank.weights[:, learned:], before[:, learned:])
    assert training.state() == {}


def test_weights_outside_the_loss_have_no_gradient(network):
    x, y = examples(network)
    training = Training(bank_of(network), 1e-2)
    training.gradient(x.unsqueeze(0), lambda logits: functional.cross_entropy(logits[0], y))
    assert (training.gradient(x.unsqueeze(0), lambda logits: logits.sum() * 0) == 0).all()


def test_features_are_what_the_head_takes(network):
    x, _ = examples(network)
    bank = bank_of(network, members=2)
    inputs = x.expand(2, *x.shape)
    weight, bias = (network.views(bank.weights)[name] for name in network.head)
    features = network.features(bank.weights, inputs)
    torch.testing.assert_close(features @ weight + bias.unsqueeze(1), network.apply(bank.weights, inputs))


def test_gradients_of_single_examples_are_those_of_batches_of_one(network):
    x, y = examples(network)
    row = bank_of(network).weights[0]
    loss = partial(functional.cross_entropy, reduction="none")
    gradients = example_gradients(network, row, x, y, loss)
    alone = []
    for at in range(len(y)):
        flat = row.unsqueeze(0).clone().requires_grad_()
        logits = network.apply(flat, x[at : at + 1].unsqueeze(0))[0]
        alone.append(torch.autograd.grad(loss(logits, y[at : at + 1]).sum(), flat)[0][0])
    expected = torch.stack(alone)
    expected[:, network.learned :] = 0
    torch.testing.assert_close(gradients.lengths(), expected.norm(dim=1))
    some = example_gradients(network, row, x[:2], y[:2], loss)
    unit = functional.normalize(expected, dim=1)
    torch.testing.assert_close(gradients.cosines(some), unit @ unit[:2].T, atol=1e-5, rtol=1e-4)


def test_squares_are_those_of_a_way_back_for_every_example_and_slope(network):
    x, _ = examples(network, count=23)  # more than a block
    generator = torch.Generator().manual_seed(2)
    row = bank_of(network).weights[0] + 0.1 * torch.rand(network.size, generator=generator)  # statistics, too
    slopes = torch.randn(len(x), 3, network.classes, generator=generator)
    expected = torch.zeros_like(row)
    for inputs, its in zip(x, slopes, strict=True):
        flat = row.unsqueeze(0).clone().requires_grad_()
        logits = network.apply(flat, inputs.view(1, 1, *inputs.shape))[0, 0]
        for slope in its:
            (gradient,) = torch.autograd.grad(logits, flat, slope, retain_graph=True)
            expected += gradient[0].square()
    expected[network.learned :] = 0
    torch.testing.assert_close(squared_gradients(network, row, x, slopes), expected)
