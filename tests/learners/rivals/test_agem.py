"""A-GEM's projection in closed form, and that the learner takes it."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.rivals.agem import multiplier
from merlin_cl.learners.rivals.agem_settings import AGEMSettings


def projected(gradient, reference):
    """What A-GEM's step follows."""
    return gradient + multiplier(float(gradient @ reference), float(reference @ reference)) * reference


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_projection_is_the_nearest_vector_that_does_not_point_against_the_reference(seed):
    gradient, reference, other = torch.randn(3, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    nearest = projected(gradient, reference)
    if gradient @ reference >= 0:
        assert torch.equal(nearest, gradient)
        return
    assert abs(float(nearest @ reference)) < 1e-9
    # Nearest in a half-space: what is left over is along its normal.
    left_over = gradient - nearest
    torch.testing.assert_close(left_over, (left_over @ reference) / (reference @ reference) * reference)
    admissible = other if other @ reference >= 0 else -other
    assert (gradient - nearest).norm() <= (gradient - admissible).norm() + 1e-9


def test_a_step_does_not_raise_the_memorys_loss_to_first_order(tiny):
    learner = tiny.learn(AGEMSettings(exemplars=10).build(tiny.stream, seed=0), end=False, batches=3)
    bound = 0
    for _ in range(20):
        x, y = tiny.batch(1)
        old = learner.memory.tasks == 0
        old_x, old_y = learner.memory.x[old], learner.memory.y[old]
        reference = learner.gradient(learner.cross_entropy(learner.forward(old_x), old_y)).clone()
        plain = learner.gradient(learner.cross_entropy(learner.forward(x), y)).clone()
        before = learner.bank.weights.clone()
        learner._update(x, y)
        moved = (learner.bank.weights - before)[0]
        torch.testing.assert_close(moved, -0.1 * projected(plain, reference), atol=1e-6, rtol=1e-3)
        assert reference @ moved <= 1e-6
        bound += int(plain @ reference < 0)
    assert bound > 0  # the constraint did bind
