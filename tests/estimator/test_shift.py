"""The witness is calm while inputs of a class look as they did, and alarmed when they do not."""

import math

import pytest
import torch

from merlin_cl.estimator.shift import SETTLING, WINDOWS, ShiftWitness

BATCH = 20


def batch(draws, offset=0.0):
    y = torch.randint(3, (BATCH,), generator=draws)
    return torch.randn(BATCH, 30, generator=draws) + 2 * y.unsqueeze(1) + offset, y


def witness(batches, seed=0):
    made, draws = ShiftWitness((30,)), torch.Generator().manual_seed(seed)
    surprises = [made.surprise(*batch(draws)) for _ in range(batches)]
    return made, draws, surprises


def test_it_says_nothing_before_there_is_enough_to_compare():
    _, _, surprises = witness((SETTLING + WINDOWS[-1]) // BATCH - 1)
    assert set(surprises) == {-math.inf}


@pytest.mark.parametrize("seed", range(3))
def test_a_shift_of_every_class_stands_out_from_chance(seed):
    made, draws, surprises = witness(40, seed)
    calm = max(surprises)
    assert calm < 6
    assert max(made.surprise(*batch(draws, offset=1.5)) for _ in range(3)) > 10


def test_a_new_task_is_compared_with_itself():
    made, draws, _ = witness(30)
    made.begin_task()
    surprises = [made.surprise(*batch(draws, offset=5.0)) for _ in range(30)]
    assert max(surprises) < 6


def test_one_that_is_restored_goes_on_alike():
    made, draws, _ = witness(25)
    other = ShiftWitness((30,))
    other.restore(made.state())
    x, y = batch(draws)
    assert made.surprise(x, y) == other.surprise(x, y)
    with pytest.raises(ValueError, match="not one that was saved"):
        other.restore(made.state() | {"labels": [-1]})
