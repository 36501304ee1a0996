"""GEM's step is the exact solution of its quadratic program, and raises no memory task's loss to first order."""

import numpy as np
import pytest
import quadprog
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from merlin_cl.learners.gem import multipliers
from merlin_cl.learners.rival_settings import GEMSettings

sizes = st.tuples(st.integers(1, 5), st.integers(2, 8), st.integers(0, 10_000))


def projected(g, constraints, margin=0.0):
    """What GEM's step follows: the gradient g [P], kept from pointing against the constraints [k, P]."""
    products = constraints.double() @ g.double()
    return g + multipliers((constraints @ constraints.T).double(), products, margin).to(g) @ constraints


def problem(constraints, numbers, seed):
    generator = torch.Generator().manual_seed(seed)
    g = torch.randn(numbers, generator=generator, dtype=torch.float64)
    return g, torch.randn(constraints, numbers, generator=generator, dtype=torch.float64)


@settings(max_examples=60, deadline=None)
@given(sizes)
def test_the_dual_answer_is_quadprogs_answer_to_the_projection_itself(size):
    assume(size[0] <= size[1])  # more constraints than numbers make the reference give up
    g, constraints = problem(*size)
    nearest = quadprog.solve_qp(np.eye(len(g)), g.numpy(), constraints.T.numpy().copy(), np.zeros(len(constraints)))[0]
    condition = float(torch.linalg.cond(constraints))
    # Where constraints nearly coincide, what keeps the dual solvable is felt.
    rounding = 0.0 if condition < 50 else 1e-8 * condition**2
    torch.testing.assert_close(projected(g, constraints), torch.from_numpy(nearest), atol=1e-6 + rounding, rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(sizes, st.sampled_from([0.0, 0.5]))
def test_the_answer_meets_the_conditions_of_karush_kuhn_and_tucker(size, margin):
    g, constraints = problem(*size)
    z = projected(g, constraints, margin)
    if (constraints @ g >= 0).all():
        assert torch.equal(z, g)
        return
    assert (constraints @ z >= -1e-6).all()  # feasible
    if len(constraints) > len(g):
        return  # multipliers are not unique
    v = torch.linalg.lstsq(constraints.T, z - g).solution  # z = g + G'v
    torch.testing.assert_close(constraints.T @ v, z - g, atol=1e-8, rtol=0)  # stationary
    assert (v >= margin - 1e-5).all()
    assert ((v - margin) * (constraints @ z)).abs().max() < 1e-4  # complementary


def test_constraints_that_depend_on_each_other_are_no_hindrance():
    g = torch.tensor([-1.0, 1.0])
    constraints = torch.tensor([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    torch.testing.assert_close(projected(g, constraints), torch.tensor([0.0, 1.0]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_step_raises_no_memory_tasks_loss_to_first_order(tiny, margin):
    learner = GEMSettings(exemplars=20, margin=margin).build(tiny.stream, seed=0)
    tiny.learn(learner, end=False, batches=3)
    bound = 0
    for _ in range(20):
        x, y = tiny.batch(1)
        old_x, old_y = learner.memory.of_task(0)
        memory = learner._gradient((old_x, learner._cross_entropy(old_y))).clone()
        plain = learner._gradient((x, learner._cross_entropy(y))).clone()
        before = learner._bank.weights.clone()
        learner._update(x, y)
        moved = (learner._bank.weights - before)[0]
        assert memory @ moved <= 1e-6
        bound += int(plain @ memory < 0)
    assert bound > 0  # the constraint did bind


def test_the_memorys_loss_hardly_rises_where_that_of_a_single_network_does(tiny):
    def risen(binding):
        learner = GEMSettings(exemplars=20, margin=0.0, learning_rate=1e-3).build(tiny.stream, seed=0)
        tiny.learn(learner, 0, batches=40)
        learner.begin(tiny.tasks[1])
        loss, old_x = learner._cross_entropy(learner.memory.y), learner.memory.x
        before = loss(learner._bank.logits(old_x)[0])
        for _ in range(40):
            x, y = tiny.batch(1)
            if binding:
                learner._update(x, y)
            else:
                learner._descend((x, learner._cross_entropy(y)))
        return float(loss(learner._bank.logits(old_x)[0]) - before)

    assert risen(binding=True) < 0.02 * risen(binding=False)  # what is left is of second order
