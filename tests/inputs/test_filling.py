"""Means of what was there fill in what was not, however examples came in batches."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.inputs.filling import ColumnMeans


def gapped(seed, count=24):
    draws = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 3, generator=draws)
    x[torch.rand(count, 3, generator=draws) < 0.4] = torch.nan
    x[:, 2] = torch.nan  # never there
    return x


@settings(max_examples=20)
@given(seed=st.integers(0, 30), size=st.integers(1, 24))
def test_the_mean_is_that_of_all_numbers_that_were_there(seed, size):
    x = gapped(seed)
    means = ColumnMeans.none((3,))
    for some in x.split(size):
        means = means.after(some)
    assert torch.equal(means.count, (~x.isnan()).sum(dim=0))
    torch.testing.assert_close(means.mean, x.double().nanmean(dim=0).nan_to_num(nan=0.0))
    filled = means.filled(x)
    assert filled.isfinite().all()
    assert torch.equal(filled[~x.isnan()], x[~x.isnan()])
    assert bool((filled[:, 2] == 0).all())


def test_a_state_comes_back_and_another_s_is_refused():
    means = ColumnMeans.none((3,)).after(gapped(0))
    assert torch.equal(ColumnMeans.from_state(means.state(), (3,)).mean, means.mean)
    with pytest.raises(ValueError, match="not those of its inputs"):
        ColumnMeans.from_state(means.state(), (4,))
    with pytest.raises(ValueError, match="are none"):
        ColumnMeans.from_state(means.state() | {"count": -means.count - 1}, (3,))
