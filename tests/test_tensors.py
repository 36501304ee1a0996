"""What learners share about tensors."""

import math

import torch

from merlin_cl.tensors import as_float, largest, rows


def test_bytes_are_numbers_from_0_to_1_and_numbers_stay():
    x = torch.tensor([[0, 51, 255]], dtype=torch.uint8)
    torch.testing.assert_close(as_float(x), torch.tensor([[0.0, 0.2, 1.0]]))
    assert x.dtype == torch.uint8
    assert as_float(kept := torch.tensor([3.0])) is kept


def test_the_largest_is_the_largest_that_a_network_meets():
    assert largest(torch.tensor([7, 255], dtype=torch.uint8)) == 1.0
    assert largest(torch.tensor([-7.0, 3.0])) == 7.0
    assert largest(torch.zeros(0, 4)) == 0.0
    assert math.isnan(largest(torch.tensor([1.0, torch.nan])))


def test_rows_are_those_at_the_places_in_the_places_shape():
    values, places = torch.arange(24).view(6, 2, 2), torch.tensor([[5, 0], [2, 2]])
    assert torch.equal(rows(values, places), values[places])
