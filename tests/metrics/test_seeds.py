import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merlin_cl import metrics
from merlin_cl.errors import InputError


def test_mean_and_deviation_over_seeds():
    assert metrics.mean([1.0, 2.0, 6.0]) == 3.0
    assert metrics.standard_deviation([1.0, 2.0, 6.0]) == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
    assert metrics.standard_deviation([4.0]) is None
    with pytest.raises(InputError):
        metrics.mean([])


few = st.lists(st.floats(-100, 100), min_size=2, max_size=9)


@given(few)
def test_the_interval_and_the_p_value_are_student_s(values):
    from scipy import stats

    assume(metrics.standard_deviation(values) > 1e-6)
    middle, width = metrics.mean(values), metrics.half_width(values)
    expected = stats.t.interval(0.95, len(values) - 1, loc=middle, scale=stats.sem(values))
    assert (middle - width, middle + width) == pytest.approx(expected, abs=1e-6)
    compared = metrics.paired(dict(enumerate(values)), dict.fromkeys(range(len(values)), 0.0))
    assert compared.p_value == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue, abs=1e-9)
    # Zero is outside the interval exactly where the test says that there is a difference.
    if abs(compared.p_value - 0.05) > 1e-6:
        assert (compared.p_value < 0.05) == (abs(compared.difference) > compared.half_width)


@given(few, few)
def test_a_paired_comparison_the_other_way_round_is_its_mirror(first, second):
    forth = metrics.paired(dict(enumerate(first)), dict(enumerate(second)))
    back = metrics.paired(dict(enumerate(second)), dict(enumerate(first)))
    assert forth.seeds == min(len(first), len(second))
    assert (forth.difference, forth.half_width) == pytest.approx((-back.difference, back.half_width))
    assert forth.p_value == pytest.approx(back.p_value)


def test_seeds_that_only_one_method_has_are_left_out():
    compared = metrics.paired({0: 1.0, 1: 2.0, 7: 50.0}, {1: 1.0, 0: 0.0, 9: -50.0})
    assert compared == metrics.Comparison(seeds=2, difference=1.0, half_width=0.0, p_value=0.0)
    assert metrics.paired({0: 1.0}, {1: 1.0}) is None


def test_one_seed_says_nothing_of_chance():
    assert metrics.half_width([50.0]) is None
    assert metrics.paired({3: 2.0}, {3: 1.0}) == metrics.Comparison(1, 1.0, None, None)
    assert metrics.paired({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0}).p_value == 1.0
