"""A network whose outputs are weights: one set for each task, drawn as the target's own are."""

import torch

from merlin_cl.networks.hypernetwork import Hypernetwork
from merlin_cl.networks.mlp import MLP

TARGET = MLP((20,), 5, (30,))


def generated(tasks):
    network = Hypernetwork(TARGET, tasks=4, chunk=64, embedding=8, hidden=40)
    bank = network.initial(3, torch.Generator().manual_seed(0))
    return network.apply(bank, tasks.expand(3, *tasks.shape))


def test_every_weight_of_the_target_is_generated_and_tasks_differ():
    weights = generated(torch.eye(4))
    assert weights.shape == (3, 4, TARGET.learned)
    assert weights.isfinite().all()
    assert (weights[:, 0] != weights[:, 1]).any(dim=1).all()


def test_what_it_generates_is_about_as_wide_as_what_the_target_draws():
    drawn = TARGET.initial(1, torch.Generator().manual_seed(0))[0, : TARGET.learned]
    ratio = generated(torch.eye(4)).std() / drawn.std()
    assert 0.5 < float(ratio) < 2
