"""GEM's step is the exact solution of its quadratic program, and raises no memory task's loss to first order."""

from itertools import chain, combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.rivals.gem import projected
from merlin_cl.learners.rivals.gem_settings import GEMSettings

sizes = st.tuples(st.integers(1, 5), st.integers(2, 8), st.integers(0, 10_000))


def problem(constraints, numbers, seed):
    generator = torch.Generator().manual_seed(seed)
    g = torch.randn(numbers, generator=generator, dtype=torch.float64)
    return g, torch.randn(constraints, numbers, generator=generator, dtype=torch.float64)


def nearest(g, constraints):
    """The projection by trying every set of constraints that may bind, for the nearest point of those that meet all."""
    places = range(len(constraints))
    points = [g]
    for binding in chain.from_iterable(combinations(places, count) for count in range(1, len(g) + 1)):
        active = constraints[list(binding)]  # [k, P]
        points.append(g - active.T @ torch.linalg.lstsq(active.T, g.unsqueeze(1), driver="gelsd").solution[:, 0])
    points = [point for point in points if (constraints @ point >= -1e-9 * constraints.norm(dim=1)).all()]
    return min(points, key=lambda point: float((point - g).norm()))


@settings(max_examples=100, deadline=None)
@given(sizes)
def test_the_step_is_the_exact_projection(size):
    g, constraints = problem(*size)
    torch.testing.assert_close(projected(g, constraints), nearest(g, constraints), atol=1e-8, rtol=1e-8)


@settings(max_examples=60, deadline=None)
@given(sizes, st.sampled_from([0.0, 0.5]))
def test_the_answer_meets_the_conditions_of_karush_kuhn_and_tucker(size, margin):
    g, constraints = problem(*size)
    z = projected(g, constraints, margin)
    if (constraints @ g >= 0).all():
        assert torch.equal(z, g)
        return
    assert (constraints @ z >= -1e-9 * constraints.norm(dim=1) * g.norm()).all()  # feasible
    if len(constraints) > len(g):
        return  # multipliers are not unique
    v = torch.linalg.lstsq(constraints.T, z - g).solution  # z = g + G'v
    torch.testing.assert_close(constraints.T @ v, z - g, atol=1e-8, rtol=0)  # stationary
    assert (v >= margin - 1e-7).all()
    assert ((v - margin) * (constraints @ z)).abs().max() < 1e-7  # complementary


@settings(max_examples=60, deadline=None)
@given(sizes, st.floats(-30, 30), st.lists(st.floats(-30, 30), min_size=5, max_size=5))
def test_how_long_gradients_are_changes_nothing(size, longer, lengths):
    """Sixty orders of magnitude, in the single precision that learners compute in."""
    g, constraints = problem(*size)
    scales = 10.0 ** torch.tensor(lengths[: len(constraints)], dtype=torch.float64)
    scaled = projected((g * 10.0**longer).float(), (constraints * scales.unsqueeze(1)).float())
    assert scaled.isfinite().all()
    torch.testing.assert_close(scaled.double() / 10.0**longer, projected(g, constraints), atol=1e-4, rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(sizes, st.floats(1e-12, 1e-2))
def test_constraints_that_nearly_coincide_are_met(size, apart):
    g, constraints = problem(*size)
    constraints = torch.cat([constraints, constraints + apart * constraints.roll(1, dims=1)])
    z = projected(g, constraints)
    assert (constraints @ z >= -1e-6 * constraints.norm(dim=1) * g.norm()).all()
    torch.testing.assert_close(z @ z, z @ g, atol=1e-6, rtol=1e-6)  # z - g stands on z, as a projection to a cone does


@settings(max_examples=60, deadline=None)
@given(sizes, st.sampled_from([0.0, 0.5]), st.integers(0, 5))
def test_a_task_without_a_gradient_changes_nothing(size, margin, place):
    g, constraints = problem(*size)
    none = torch.zeros(1, len(g), dtype=torch.float64)
    with_it = torch.cat([constraints[:place], none, constraints[place:]])
    torch.testing.assert_close(projected(g, with_it, margin), projected(g, constraints, margin), atol=1e-8, rtol=1e-8)


def test_constraints_that_depend_on_each_other_are_no_hindrance():
    g = torch.tensor([-1.0, 1.0])
    constraints = torch.tensor([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    torch.testing.assert_close(projected(g, constraints), torch.tensor([0.0, 1.0]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_step_raises_no_memory_tasks_loss_to_first_order(tiny, margin):
    learner = GEMSettings(exemplars=20, margin=margin).build(tiny.stream, seed=0)
    tiny.learn(learner, end=False, batches=3)
    bound = 0
    for _ in range(20):
        x, y = tiny.batch(1)
        old_x, old_y = learner.memory.of_task(0)
        memory = learner.gradient(learner.cross_entropy(learner.forward(old_x), old_y)).clone()
        plain = learner.gradient(learner.cross_entropy(learner.forward(x), y)).clone()
        before = learner.bank.weights.clone()
        learner._update(x, y)
        moved = (learner.bank.weights - before)[0]
        assert memory @ moved <= 1e-6
        bound += int(plain @ memory < 0)
    assert bound > 0  # the constraint did bind


def test_the_memorys_loss_hardly_rises_where_that_of_a_single_network_does(tiny):
    def risen(binding):
        learner = GEMSettings(exemplars=20, margin=0.0, learning_rate=1e-3).build(tiny.stream, seed=0)
        tiny.learn(learner, 0, batches=40)
        learner.begin(tiny.tasks[1])

        def loss():
            return learner.cross_entropy(learner.bank.logits(learner.memory.x)[0], learner.memory.y)

        before = loss()
        for _ in range(40):
            x, y = tiny.batch(1)
            if binding:
                learner._update(x, y)
            else:
                learner.learn(x, y)
        return float(loss() - before)

    assert risen(binding=True) < 0.02 * risen(binding=False)  # what is left is of second order
