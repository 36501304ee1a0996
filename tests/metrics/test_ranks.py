"""Mean ranks over streams, and which methods they tell apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.metrics.ranks import cliques, complete_block, critical_difference, mean_ranks, ranks

scores = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=12)


@given(scores)
def test_ranks_are_those_of_scipy(values):
    from scipy.stats import rankdata

    assert ranks(values) == pytest.approx(list(rankdata([-value for value in values])))


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=1, max_size=6))
def test_mean_ranks_average_to_the_middle(columns):
    means = mean_ranks({str(method): [column[method] for column in columns] for method in range(3)})
    assert sum(means.values()) / 3 == pytest.approx(2.0)


@pytest.mark.parametrize("methods", [2, 3, 10, 40])
def test_the_critical_difference_is_nemenyis(methods):
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(0.95, methods, 1e6)
    expected = quantile / 2**0.5 * (methods * (methods + 1) / (6 * 7)) ** 0.5
    assert critical_difference(methods, 7) == pytest.approx(expected, rel=1e-4)


@given(st.lists(st.floats(1, 20), min_size=1, max_size=10).map(sorted), st.floats(0.1, 5))
def test_bars_join_exactly_those_that_cannot_be_told_apart(means, difference):
    bars = cliques(means, difference)
    for first in range(len(means)):
        for second in range(first + 1, len(means)):
            joined = any(low <= first and second <= high for low, high in bars)
            assert joined == (means[second] - means[first] <= difference)
    assert all(not (a[0] <= b[0] and b[1] <= a[1]) for a in bars for b in bars if a != b)


tables = st.dictionaries(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from("uvwxyz"), st.floats(0, 100)))


@given(tables)
def test_a_complete_block_has_no_gap(table):
    methods, streams = complete_block(table)
    assert all(stream in table[method] for method in methods for stream in streams)
    assert not methods or (len(methods) > 1 and len(streams) > 1)
