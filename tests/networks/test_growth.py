"""A head that grows: old outputs stay what they are, new ones do not depend on the steps in which they came."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from merlin_cl.errors import UsageError
from merlin_cl.networks.growth import HeadGrowth, positions_of
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.resnet import ResNet


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


class Frozen(nn.Module):
    """A layer that is not trained, then one that gives the logits."""

    def __init__(self, shape, classes):
        super().__init__()
        self.body = nn.Linear(shape[0], 5).requires_grad_(False)
        self.head = nn.Linear(5, classes)

    def forward(self, x):
        return self.head(self.body(x).relu())


class Restless(nn.Module):
    """With more classes it has more hidden units."""

    def __init__(self, shape, classes):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(shape[0], classes), nn.ReLU(), nn.Linear(classes, classes))

    def forward(self, x):
        return self.layers(x)


class Reshuffled(nn.Module):
    """Its frozen layer is drawn after the head, so it differs with the number of classes."""

    def __init__(self, shape, classes):
        super().__init__()
        self.head = nn.Linear(5, classes)
        self.body = nn.Linear(shape[0], 5).requires_grad_(False)

    def forward(self, x):
        return self.head(self.body(x).relu())


NETWORKS = {
    "mlp": MLP((6,), 3, (7,)),
    "linear": MLP((6,), 3, ()),
    "resnet": ResNet((2, 8, 8), 3, (3, 4)),
    "module": ModuleNetwork(Frozen, (6,), 3),
}


@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=15, deadline=None)
@given(more=st.integers(0, 4), members=st.integers(1, 3), seed=st.integers(0, 99), data=st.data())
def test_old_outputs_are_unchanged(kind, more, members, seed, data):
    narrow = NETWORKS[kind]
    wide = narrow.with_outputs(narrow.classes + more)
    outputs = data.draw(st.permutations(range(wide.classes)))[: narrow.classes]
    rows = narrow.initial(members, draws(seed))
    grown = HeadGrowth(narrow, wide, outputs).rows(rows, wide.initial(members, draws(seed + 1)))
    x = torch.randn(members, 4, *narrow.input_shape, generator=draws(seed + 2))
    assert torch.allclose(wide.apply(grown, x)[..., outputs], narrow.apply(rows, x), atol=1e-5)
    assert torch.equal(grown[:, positions_of(wide, outputs)], rows)


@pytest.mark.parametrize("kind", NETWORKS)
def test_many_small_steps_of_growth_are_one_large_one(kind):
    first = NETWORKS[kind]

    def drawn(classes):
        generator, wide = draws(3), first.with_outputs(classes)
        return wide, HeadGrowth(first, wide, range(first.classes)).drawn(2, first.initial(2, generator), generator)

    (middle, some), (last, all_of_them) = drawn(5), drawn(9)
    assert torch.equal(all_of_them[:, positions_of(last, range(middle.classes))], some)
    weight = last.views(all_of_them)[last.head[0]]
    assert weight[..., first.classes :].abs().min() > 0


def test_moments_of_new_outputs_are_zero():
    narrow = NETWORKS["mlp"]
    head = HeadGrowth(narrow, narrow.with_outputs(5), range(3))
    grown = head.moments({"step": torch.tensor(7.0), "exp_avg": torch.ones(1, narrow.size)})
    assert grown["step"] == 7
    assert grown["exp_avg"].sum() == narrow.size
    assert grown["exp_avg"].shape == (1, narrow.with_outputs(5).size)


@pytest.mark.parametrize("factory", [Restless, Reshuffled])
def test_a_network_that_changes_elsewhere_is_refused(factory):
    narrow = ModuleNetwork(factory, (6,), 3)
    with pytest.raises(UsageError, match="changes elsewhere than in its last linear layer"):
        HeadGrowth(narrow, narrow.with_outputs(4), range(3))
