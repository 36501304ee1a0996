import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merlin_cl import metrics
from merlin_cl.errors import InputError

# Worked by hand. A_1 = 100, A_2 = (80 + 90) / 2 = 85, A_3 = (60 + 95 + 70) / 3 = 75.
# Task 1: best before the end 100, at the end 60; task 2: 90, then 95. F = (40 - 5) / 2 = 17.5.
HAND = [[100.0, None, None], [80.0, 90.0, None], [60.0, 95.0, 70.0]]


def test_hand_worked_case():
    assert metrics.learning_curve(HAND) == [100.0, 85.0, 75.0]
    assert metrics.average_incremental_accuracy(HAND) == pytest.approx(260 / 3)
    assert metrics.final_accuracy(HAND) == 75.0
    assert metrics.forgetting_by_task(HAND) == [40.0, -5.0]
    assert metrics.forgetting(HAND) == 17.5
    assert metrics.backward_transfer(HAND) == -17.5


def test_forgetting_looks_at_the_best_earlier_accuracy_not_at_the_first():
    matrix = [[50.0], [80.0, 90.0], [60.0, 90.0, 90.0]]
    assert metrics.forgetting(matrix) == 10.0  # task 1 lost 80 - 60, task 2 nothing
    assert metrics.backward_transfer(matrix) == 5.0  # task 1 gained 60 - 50 since it was learned


def test_one_task_has_nothing_to_forget():
    assert metrics.final_accuracy([[88.0]]) == metrics.average_incremental_accuracy([[88.0]]) == 88.0
    assert metrics.forgetting([[88.0]]) is None
    assert metrics.backward_transfer([[88.0]]) is None


@pytest.mark.parametrize(
    ("matrix", "word"),
    [
        ([], "empty"),
        ([[90.0], [90.0, None]], "Row 1"),
        ([[math.nan]], "Row 0"),
        ([[101.0]], "percentages"),
        ([[90.0], [90.0]], "Row 1"),
    ],
)
def test_matrices_that_say_nothing_are_refused(matrix, word):
    with pytest.raises(InputError, match=word):
        metrics.learning_curve(matrix)


def test_mean_and_deviation_over_seeds():
    assert metrics.mean([1.0, 2.0, 6.0]) == 3.0
    assert metrics.standard_deviation([1.0, 2.0, 6.0]) == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
    assert metrics.standard_deviation([4.0]) is None
    with pytest.raises(InputError):
        metrics.mean([])


percent = st.floats(0, 100)
matrices = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*[st.lists(percent, min_size=k + 1, max_size=k + 1) for k in range(n)])
)


@given(matrices)
def test_what_follows_the_triangle_never_matters(rows):
    size = len(rows)
    for filler in (None, math.nan, 12.0):
        padded = [row + [filler] * (size - len(row)) for row in rows]
        for metric in metrics.METRICS.values():
            assert metric(padded) == metric(rows)


@given(matrices)
def test_metrics_stay_in_their_ranges(rows):
    assert 0 <= metrics.average_incremental_accuracy(rows) <= 100 + 1e-9
    assert 0 <= metrics.final_accuracy(rows) <= 100 + 1e-9
    if len(rows) > 1:
        assert -100 <= metrics.forgetting(rows) <= 100
        # The best accuracy on a task is at least the first one, so forgetting is at least what was lost since learning.
        assert metrics.forgetting(rows) >= -metrics.backward_transfer(rows) - 1e-9


@given(st.integers(1, 6), percent)
def test_a_learner_that_never_changes_forgets_nothing(size, accuracy):
    rows = [[accuracy] * (k + 1) for k in range(size)]
    assert metrics.average_incremental_accuracy(rows) == pytest.approx(accuracy)
    assert metrics.forgetting(rows) == (None if size == 1 else pytest.approx(0, abs=1e-9))


@given(matrices.filter(lambda rows: len(rows) > 1))
def test_forgetting_does_not_depend_on_the_last_task_itself(rows):
    changed = [*rows[:-1], [*rows[-1][:-1], 0.0]]
    assert metrics.forgetting(changed) == metrics.forgetting(rows)


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
