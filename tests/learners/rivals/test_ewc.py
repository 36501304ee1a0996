"""EWC's Fisher information against autograd, its penalty against the sum over tasks, and what they do."""

import copy

import pytest
import torch
from torch.nn import functional

from merlin_cl.learners.rivals.ewc import fisher_diagonal
from merlin_cl.learners.rivals.ewc_settings import EWCSettings
from merlin_cl.networks.mlp import MLP

NETWORK = MLP((3,), 4, (2,))
ALLOWED = torch.tensor([True, True, True, False])


def example_by_example(weights, x, labels=None):
    """The definition, with a backward pass for each example and answer."""
    total = torch.zeros_like(weights)
    for at in range(len(x)):
        flat = weights.unsqueeze(0).clone().requires_grad_()
        logs = functional.log_softmax(NETWORK.apply(flat, x[at].view(1, 1, 3))[0, 0, ALLOWED], dim=0)
        for label in range(3):
            if labels is None or labels[at] == label:
                (gradient,) = torch.autograd.grad(logs[label], flat, retain_graph=True)
                total += (logs[label].exp().detach() if labels is None else 1) * gradient[0].square()
    return total / len(x)


@pytest.mark.parametrize("given", [False, True])
def test_the_fisher_information_is_that_of_autograd(given):
    generator = torch.Generator().manual_seed(0)
    weights = NETWORK.initial(1, generator)[0]
    x = torch.randn(45, 3, generator=generator)  # more than a block
    labels = torch.randint(0, 3, (45,), generator=generator) if given else None
    diagonal = fisher_diagonal(NETWORK, weights, x, ALLOWED, labels)
    torch.testing.assert_close(diagonal, example_by_example(weights, x, labels))


def test_one_quadratic_stands_for_all_tasks(tiny):
    learner = EWCSettings(hidden_units=(4,)).build(tiny.stream, seed=0)
    generator = torch.Generator().manual_seed(0)
    held = [torch.rand(2, learner.network.size, generator=generator) for _ in range(4)]  # weights and importances
    for weights, fisher in held:
        learner._hold(weights, fisher)
    now = torch.rand(learner.network.size, generator=generator)
    expected = sum(fisher * (now - weights) for weights, fisher in held)
    torch.testing.assert_close(learner.importance * (now - learner.anchor), expected)


def test_the_online_form_fades(tiny):
    learner = EWCSettings(hidden_units=(4,), online=True, decay=0.5).build(tiny.stream, seed=0)
    ones = torch.ones(learner.network.size)
    learner._hold(ones, ones)
    learner._hold(2 * ones, 3 * ones)
    assert torch.equal(learner.importance, 3.5 * ones)
    assert torch.equal(learner.anchor, 2 * ones)


def test_the_penalty_holds_important_weights(tiny):
    def moved(strength):
        same = copy.deepcopy(tiny)
        learner = same.learn(EWCSettings(strength=strength, learning_rate=1e-2).build(tiny.stream, seed=0), 0)
        weights, importance = learner.bank.weights[0].clone(), learner.importance.clone()
        same.learn(learner, 1)
        return float((importance * (learner.bank.weights[0] - weights).square()).sum())

    assert moved(1e4) < 0.05 * moved(0.0)


def test_exemplars_are_dropped_when_the_task_ends(tiny):
    learner = tiny.learn(EWCSettings().build(tiny.stream, seed=0), 0, end=False)
    assert learner.stored_bytes()["exemplars"] > 0
    learner.end()
    assert learner.stored_bytes()["exemplars"] == 0
