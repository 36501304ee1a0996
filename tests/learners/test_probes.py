"""Figures of diagnosis against the plain ways to them."""

from itertools import combinations

import torch
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.learners.probes import disagreement, figures, relative_error
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.mlp import MLP


@given(members=st.integers(1, 5), seed=st.integers(0, 50))
def test_disagreement_is_the_share_of_pairs_that_choose_differently(members, seed):
    choices = torch.randint(3, (members, 6), generator=torch.Generator().manual_seed(seed))
    pairs = [float((one != other).double().mean()) for one, other in combinations(choices, 2)]
    assert abs(disagreement(choices, 3) - (sum(pairs) / len(pairs) if pairs else 0.0)) < 1e-12


def test_one_model_is_its_own_ensemble_and_masked_classes_are_never_chosen():
    network = MLP((4,), 3, (5,))
    bank = Bank(network, network.initial(1, torch.Generator().manual_seed(0)))
    x, allowed = torch.randn(50, 4, generator=torch.Generator().manual_seed(1)), torch.tensor([True, True, False])
    y = bank.logits(x)[0][:, :2].argmax(dim=1)
    assert figures("one", bank, x, y, allowed) == {"one_ensemble": 100.0, "one_single": 100.0, "one_diversity": 0.0}


def test_the_error_of_zeros_is_one():
    base = torch.randn(3, 10, generator=torch.Generator().manual_seed(0))
    assert relative_error(torch.zeros(2, 10), base) == 1.0
    assert relative_error(base.flip(0), base) < 1e-6
