"""Points in few bits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.merlin.storage import PER_BYTE, Quantised, quantised

GROUPS = [(0, 40), (40, 47), (47, 300)]


@settings(deadline=None, max_examples=40)
@given(levels=st.sampled_from(list(PER_BYTE)), seed=st.integers(0, 99), scale=st.floats(1e-4, 1e3))
def test_what_is_stored_comes_back_and_is_stored_the_same_again(levels, seed, scale):
    z = scale * torch.randn(3, 300, generator=torch.Generator().manual_seed(seed))
    first = quantised(z, GROUPS, levels)
    points = first.points(GROUPS)
    assert torch.isfinite(points).all()
    assert (points - z).norm() < z.norm()
    assert Quantised.restored(first.state()).points(GROUPS).equal(points)
    assert first.bytes == 3 * -(-300 // PER_BYTE[levels]) + 2 * 9 + 1


@pytest.mark.parametrize(("levels", "error"), [(16, 0.0125), (6, 0.07), (4, 0.125), (3, 0.2), (2, 0.37)])
def test_the_error_is_that_of_the_best_equal_steps_for_normal_numbers(levels, error):
    """Within a few percent of Max (1960): the distortion of a normal variable in so many equally spaced values."""
    z = torch.randn(1, 20_000, generator=torch.Generator().manual_seed(0))
    groups = [(0, 20_000)]
    measured = (quantised(z, groups, levels).points(groups) - z).square().mean()
    assert measured < error


def test_numbers_of_any_size_stay_finite():
    for size in (1e-30, 1e30, 3e38):
        assert torch.isfinite(quantised(size * torch.randn(2, 300).clamp(-1, 1), GROUPS, 6).points(GROUPS)).all()


def test_parts_that_are_zero_in_all_points_take_no_bytes_and_come_back_as_zero():
    z = torch.randn(2, 300)
    whole = quantised(z, GROUPS, 16).bytes
    z[:, 47:] = 0
    stored = quantised(z, GROUPS, 16)
    assert stored.bytes == 2 * 24 + 2 * 2 * 2 + 1 < whole
    assert not stored.points(GROUPS)[:, 47:].any()
    nothing = quantised(torch.zeros(2, 300), GROUPS, 6)
    assert not nothing.points(GROUPS).any()
    assert nothing.bytes == 1


def test_the_first_points_are_the_first_points():
    stored = quantised(torch.randn(4, 300), GROUPS, 6)
    assert torch.equal(stored.first(2).points(GROUPS), stored.points(GROUPS)[:2])
