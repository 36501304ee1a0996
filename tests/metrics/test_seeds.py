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


enough = st.lists(st.floats(-100, 100), min_size=metrics.ENOUGH_SEEDS, max_size=9)


@given(enough)
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


@given(enough, enough)
def test_a_paired_comparison_the_other_way_round_is_its_mirror(first, second):
    forth = metrics.paired(dict(enumerate(first)), dict(enumerate(second)))
    back = metrics.paired(dict(enumerate(second)), dict(enumerate(first)))
    assert forth.seeds == min(len(first), len(second))
    assert (forth.difference, forth.half_width) == pytest.approx((-back.difference, back.half_width))
    assert forth.p_value == pytest.approx(back.p_value)


def test_seeds_that_only_one_method_has_are_left_out():
    first, second = {seed: float(seed) for seed in range(6)}, {seed: seed - 1.0 for seed in range(1, 9)}
    assert metrics.paired(first, second) == metrics.Comparison(seeds=5, difference=1.0, half_width=0.0, p_value=0.0)
    assert metrics.paired({0: 1.0}, {1: 1.0}) is None


@pytest.mark.parametrize("seeds", range(1, metrics.ENOUGH_SEEDS))
def test_few_seeds_say_nothing_of_chance(seeds):
    values = {seed: 50.0 + seed for seed in range(seeds)}
    assert metrics.half_width(list(values.values())) is None
    assert metrics.interval(list(values.values())) is None
    compared = metrics.paired(values, dict.fromkeys(values, 49.0))
    assert (compared.half_width, compared.interval, compared.p_value) == (None, None, None)


def test_no_difference_at_all_is_no_finding():
    values = dict.fromkeys(range(5), 1.0)
    assert metrics.paired(values, values).p_value == 1.0


@given(enough)
def test_an_interval_is_cut_to_what_can_be_and_no_further(values):
    low, high = metrics.interval(values)
    least, greatest = metrics.interval(values, -100.0, 100.0)
    assert (least, greatest) == (max(low, -100.0), min(high, 100.0))
    assert least <= metrics.mean(values) + 1e-9
    assert greatest >= metrics.mean(values) - 1e-9


probabilities = st.lists(st.none() | st.floats(0, 1), max_size=12)


@given(probabilities)
def test_corrected_p_values_keep_their_order_and_never_fall(values):
    adjusted = metrics.holm(values)
    tested = sorted((p, corrected) for p, corrected in zip(values, adjusted, strict=True) if p is not None)
    assert [corrected is None for corrected in adjusted] == [p is None for p in values]
    assert all(p <= corrected <= 1 for p, corrected in tested)
    assert [corrected for _, corrected in tested] == sorted(corrected for _, corrected in tested)


@given(probabilities)
def test_holm_rejects_what_stepping_down_rejects(values):
    """Holm's rule as it is written: the smallest p against alpha / m, the next against alpha / (m - 1), until one fails."""
    tested = sorted(p for p in values if p is not None)
    rejected = 0
    for rank, p in enumerate(tested):
        if p > 0.05 / (len(tested) - rank):
            break
        rejected += 1
    corrected = [p for p in metrics.holm(values) if p is not None]
    close = [p for p in corrected if abs(p - 0.05) < 1e-9]
    assert abs(sum(p <= 0.05 for p in corrected) - rejected) <= len(close)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_counts_the_ways_in_which_changes_could_fall(gained, lost):
    n, least = gained + lost, min(gained, lost)
    tail = sum(math.comb(n, k) for k in range(least + 1)) / 2**n
    assert metrics.mcnemar(gained, lost) == pytest.approx(min(1.0, 2 * tail))
    assert metrics.mcnemar(gained, lost) == metrics.mcnemar(lost, gained)
