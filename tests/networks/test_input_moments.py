"""Second moments of layers' inputs, against those computed by hand."""

import math

import pytest
import torch

from merlin_cl.networks.input_moments import input_moments
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.resnet import ResNet


def draws(seed):
    return torch.Generator().manual_seed(seed)


def test_those_of_an_mlp_are_of_its_inputs_and_hidden_units():
    network = MLP((2, 3), 4, (5,))
    row = network.initial(1, draws(0))[0]
    x, weights = torch.randn(130, 2, 3, generator=draws(1)), torch.rand(130, generator=draws(2))
    found = input_moments(network, row, x, weights)
    h, share = x.flatten(1), (weights / weights.sum()).unsqueeze(1)
    views = network.views(row.unsqueeze(0))
    hidden = (h @ views["0.weight"][0] + views["0.bias"][0]).relu()
    assert list(found) == ["0.weight", "1.weight"]
    torch.testing.assert_close(found["0.weight"], (share * h).t() @ h)
    torch.testing.assert_close(found["1.weight"], (share * hidden).t() @ hidden)


def test_examples_that_count_twice_are_examples_that_come_twice():
    network = ResNet((3, 8, 8), 2)
    row, x = network.initial(1, draws(0))[0], torch.rand(4, 3, 8, 8, generator=draws(1))
    once = input_moments(network, row, x, torch.tensor([2.0, 1.0, 1.0, 0.0]))
    twice = input_moments(network, row, x[[0, 0, 1, 2]], torch.ones(4))
    for name, moment in once.items():
        torch.testing.assert_close(moment, twice[name])


def somebodys_module(shape, classes):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1, bias=False), torch.nn.Flatten(), torch.nn.Linear(256, classes)
    )


@pytest.mark.parametrize(
    ("network", "name"),
    [(ResNet((3, 8, 8), 2), "stem.convolution.weight"), (ModuleNetwork(somebodys_module, (3, 8, 8), 2), "0.weight")],
    ids=["ours", "somebody's"],
)
def test_a_layer_turns_them_into_those_of_its_outputs(network, name):
    """w' C w is the mean square of what the weights w of an output give."""
    row, x = network.initial(1, draws(0))[0], torch.rand(4, 3, 8, 8, generator=draws(1))
    kernel = network.views(row.unsqueeze(0))[name][0]  # [in, height, width, out]
    outputs = torch.nn.functional.conv2d(x, kernel.permute(3, 0, 1, 2), padding=1)
    moment, flat = input_moments(network, row, x, torch.ones(4))[name], kernel.flatten(0, 2)
    torch.testing.assert_close((flat.t() @ moment @ flat).diagonal(), outputs.square().mean(dim=(0, 2, 3)))


def test_every_matrix_of_a_resnet_has_its_own():
    network = ResNet((3, 8, 8), 2)
    found = input_moments(network, network.initial(1, draws(0))[0], torch.rand(3, 3, 8, 8), torch.ones(3))
    inputs = {name: math.prod(shape[:-1]) for name, shape in network.shapes.items() if len(shape) > 1}
    assert {name: len(moment) for name, moment in found.items()} == inputs
