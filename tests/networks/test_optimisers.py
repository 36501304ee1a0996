"""Adam, AdamW and plain descent against their definitions."""

import pytest
import torch

from merlin_cl.networks.optimisers import BETAS, EPSILON, optimiser_for

RATE, DECAY = 0.05, 0.1


def gradients(count, size=7):
    return torch.randn(count, 2, size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def by_definition(kind, decoupled, weights, gradient_of_step):
    first, second = torch.zeros_like(weights), torch.zeros_like(weights)
    for step, gradient in enumerate(gradient_of_step, start=1):
        if decoupled:
            weights = weights * (1 - RATE * DECAY)
        else:
            gradient = gradient + DECAY * weights
        if kind == "sgd":
            weights = weights - RATE * gradient
            continue
        first = BETAS[0] * first + (1 - BETAS[0]) * gradient
        second = BETAS[1] * second + (1 - BETAS[1]) * gradient.square()
        size = (second / (1 - BETAS[1] ** step)).sqrt() + EPSILON
        weights = weights - RATE * first / (1 - BETAS[0] ** step) / size
    return weights


@pytest.mark.parametrize(("kind", "decoupled"), [("adam", False), ("adam", True), ("sgd", False)])
def test_steps_are_those_of_the_definition(kind, decoupled):
    start = torch.randn(2, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    moved, steps = start.clone(), gradients(5)
    optimiser = optimiser_for(kind, moved, RATE, DECAY, decoupled)
    for gradient in steps:
        optimiser.step(moved, gradient)
    torch.testing.assert_close(moved, by_definition(kind, decoupled, start, steps), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_a_step_that_is_foreseen_is_the_one_that_comes(kind):
    weights, (first, second) = torch.ones(2, 7, dtype=torch.float64), gradients(2)
    optimiser = optimiser_for(kind, weights, RATE, DECAY, decoupled=False)
    optimiser.step(weights, first)
    before = weights.clone()
    foreseen = optimiser.foreseen(weights, second)
    assert torch.equal(weights, before)
    optimiser.step(weights, second)
    assert torch.equal(weights, foreseen)
