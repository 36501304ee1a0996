import math

import pytest
from hypothesis import given
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
