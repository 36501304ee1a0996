"""Networks made of another one: cosine heads, and experts along depth. Gradients, growth, and what answers mean."""

import pytest
import torch

from merlin_cl.networks.bank import Bank, Gradients
from merlin_cl.networks.cosine import CosineNetwork
from merlin_cl.networks.experts import DepthExperts
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet

NETWORKS = {
    "cosine mlp": CosineNetwork(MLP((5,), 3, (4, 6)), 0.2),
    "cosine resnet": CosineNetwork(ResNet((2, 8, 8), 3, maps=(2, 4)), 0.2),
    "experts of an mlp": DepthExperts(MLP((5,), 3, (4, 6)), width=5, projection=4),
    "experts of a resnet": DepthExperts(ResNet((2, 8, 8), 3, maps=(2, 4)), width=5, projection=4),
}


def loss_at(bank, x, loss):
    """The loss in training, statistics being those of the batch."""
    values = []
    Gradients(bank).gradient(x, lambda outputs: values.append(loss(outputs)) or values[0])
    return values[0].detach()


@pytest.mark.parametrize("name", NETWORKS)
def test_the_gradient_is_the_slope_of_the_loss(name):
    network = NETWORKS[name]
    bank = Bank(network, network.initial(2, torch.Generator().manual_seed(0)).double())
    x = torch.rand(2, 9, *network.input_shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    aims = torch.rand(2, 9, 100, dtype=torch.float64, generator=torch.Generator().manual_seed(2))

    def loss(outputs):
        return (outputs - aims[..., : outputs.shape[-1]]).square().sum()

    kept = bank.weights.clone()
    gradient = Gradients(bank).gradient(x, loss).clone()
    random = torch.Generator().manual_seed(3)
    for place in torch.randint(0, network.learned, (12,), generator=random).tolist():
        around = []
        for step in (1e-6, -1e-6):
            bank.weights.copy_(kept)
            bank.weights[:, place] += step
            around.append(float(loss_at(bank, x, loss)))
        slope = (around[0] - around[1]) / 2e-6
        assert float(gradient[:, place].sum()) == pytest.approx(slope, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_wider_one_answers_old_classes_as_before(name):
    narrow = NETWORKS[name]
    wide = narrow.with_outputs(5)
    rows = narrow.initial(1, torch.Generator().manual_seed(0))
    grown = HeadGrowth(narrow, wide, range(3)).rows(rows, wide.initial(1, torch.Generator().manual_seed(1)))
    x = torch.rand(4, *narrow.input_shape, generator=torch.Generator().manual_seed(2))
    before, after = Bank(narrow, rows).logits(x)[0], Bank(wide, grown).logits(x)[0]
    if isinstance(narrow, DepthExperts):
        before, after = narrow.said(before).logits, wide.said(after).logits
    torch.testing.assert_close(after[..., :3], before)


def test_cosines_do_not_depend_on_lengths_or_bias():
    network = NETWORKS["cosine mlp"]
    rows = network.initial(1, torch.Generator().manual_seed(0))
    scaled = rows.clone()
    for name, factor in zip(network.head, (7.0, -3.0), strict=True):
        network.views(scaled)[name].mul_(factor)
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(1))
    logits = Bank(network, rows).logits(x)
    torch.testing.assert_close(Bank(network, scaled).logits(x), logits)
    assert logits.abs().max() <= 1 / 0.2 + 1e-5


def test_every_expert_reads_a_depth_of_its_own():
    network = NETWORKS["experts of a resnet"]
    rows = network.initial(1, torch.Generator().manual_seed(0))
    x = torch.rand(4, 2, 8, 8, generator=torch.Generator().manual_seed(1))
    said = network.said(Bank(network, rows).logits(x)[0])
    assert said.features.shape == (2, 4, 5)
    changed = rows.clone()
    network.views(changed)["blocks.1.second.convolution.weight"].mul_(2)  # of the last stage
    network.views(changed)["blocks.1.second.norm.bias"].add_(1)
    after = network.said(Bank(network, changed).logits(x)[0])
    assert torch.equal(after.features[0], said.features[0])
    assert not torch.equal(after.features[1], said.features[1])
