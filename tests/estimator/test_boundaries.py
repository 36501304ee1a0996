"""Where tasks end when nobody says so."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.errors import UsageError
from merlin_cl.estimator.boundaries import FixedLength, divider
from merlin_cl.estimator.drift import DriftDetector

from .small import clouds, rival

pytestmark = pytest.mark.usefixtures("short_fits")


@settings(max_examples=50, deadline=None)
@given(calls=st.lists(st.integers(1, 30), min_size=1, max_size=8), count=st.integers(1, 25), size=st.integers(1, 12))
def test_every_so_many_examples(calls, count, size):
    """Whatever the calls, every task but the last has exactly so many examples, and none is lost."""
    fixed, lengths = FixedLength(count), [0]
    seen = []
    for call in calls:
        y = torch.arange(len(seen), len(seen) + call)
        for begins, some_x, some_y in fixed.pieces(y.float().unsqueeze(1), y, size):
            assert len(some_y) <= size
            assert torch.equal(some_x[:, 0].long(), some_y)
            if begins:
                lengths.append(0)
            lengths[-1] += len(some_y)
            seen += some_y.tolist()
        again = FixedLength(count)
        again.restore(fixed.state())
        fixed = again
    assert seen == list(range(sum(calls)))
    assert all(length == count for length in lengths[:-1])
    assert 0 < lengths[-1] <= count


def alarms(batches):
    """Numbers of the batches with which a change was found."""
    detector = DriftDetector((6,))
    places = []
    for number, (x, y) in enumerate(batches):
        if detector.change(torch.from_numpy(x), torch.from_numpy(y)) is not None:
            places.append(number)
        again = DriftDetector((6,))  # a detector that was saved and loaded goes on as before
        again.restore(detector.state())
        detector = again
    return places


def stream(*groups, batches=40, permute=False):
    for number, group in enumerate(groups):
        for batch in range(batches):
            x, y = clouds(*group, count=10, seed=1000 * number + batch)
            yield (np.roll(x, 2 * number, axis=1) if permute else x), y


def test_new_classes_are_found_with_their_first_batch():
    assert alarms(stream((0, 1), (2, 3), (4, 5))) == [40, 80]


@settings(max_examples=15, deadline=None)
@given(cut=st.integers(0, 5), seed=st.integers(0, 99))
def test_a_boundary_within_a_batch_is_found_where_it_is(cut, seed):
    detector = DriftDetector((6,))
    (x, y), (new_x, new_y) = (clouds(*pair, count=100, seed=seed) for pair in ((0, 1), (2, 3)))
    for start in range(0, 100, 10):
        assert detector.change(torch.from_numpy(x[start : start + 10]), torch.from_numpy(y[start : start + 10])) is None
    mixed_x, mixed_y = np.concatenate([x[:cut], new_x[cut:10]]), np.concatenate([y[:cut], new_y[cut:10]])
    assert detector.change(torch.from_numpy(mixed_x), torch.from_numpy(mixed_y)) == cut


@settings(max_examples=20, deadline=None)
@given(before=st.integers(80, 120), size=st.integers(1, 12), seed=st.integers(0, 99))
def test_a_boundary_within_a_call_is_found_where_it_is(before, size, seed):
    """Wherever batches end, and nothing is lost or changes its place; small batches are told apart by what came before."""
    parts = [clouds(*pair, count=count, seed=seed) for pair, count in (((0, 1), before), ((2, 3), 60))]
    x, y = (torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*parts, strict=True))
    begun, seen = [], []
    for begins, some_x, some_y in divider("detected", (6,)).pieces(x, y, size):
        assert 0 < len(some_y) <= size
        if begins:
            begun.append(len(seen))
        seen += zip(some_x.tolist(), some_y.tolist(), strict=True)
    assert seen == list(zip(x.tolist(), y.tolist(), strict=True))
    assert begun[0] - before in ([0] if size >= 5 else range(15)), begun


def test_a_return_to_old_classes_is_a_change_as_well():
    assert alarms(stream((0, 1), (2, 3), (0, 1))) == [40, 80]


def test_the_same_classes_in_a_new_guise_are_found_by_their_losses():
    places = alarms(stream((0, 1, 2), (0, 1, 2), (0, 1, 2), batches=60, permute=True))
    assert len(places) == 2
    assert 60 <= places[0] < 65
    assert 120 <= places[1] < 125


def test_nothing_is_found_where_nothing_changes():
    assert alarms(stream((0, 1, 2), batches=200)) == []


def test_a_rare_class_that_comes_late_is_no_change():
    def batches():
        for number, (x, y) in enumerate(stream((0, 1, 2), batches=120)):
            if number >= 60:
                x[0], y[0] = clouds(7, count=1, seed=number)[0][0], 7
            yield x, y

    assert alarms(batches()) == []


def test_a_change_that_comes_little_by_little_is_found_once():
    draws = np.random.default_rng(0)

    def batches():
        for number in range(120):
            share = min(max((number - 50) / 20, 0), 1)  # over 200 examples
            (old_x, old_y), (new_x, new_y) = (clouds(*pair, count=10, seed=number) for pair in ((0, 1), (2, 3)))
            chosen = draws.random(10) < share
            yield np.where(chosen[:, None], new_x, old_x), np.where(chosen, new_y, old_y)

    places = alarms(batches())
    assert len(places) == 1
    assert 50 <= places[0] <= 75


def test_the_estimator_begins_its_tasks_there():
    model = rival("slda", width=20).set_params(boundaries="detected")
    for x, y in stream((0, 1), (2, 3), (4, 5)):
        model.partial_fit(x, y)
    assert model.tasks_ == [0, 1, 2]
    assert {name: labels.tolist() for name, labels in model.task_classes_.items()} == {0: [0, 1], 1: [2, 3], 2: [4, 5]}
    whole = rival("slda", width=20).set_params(boundaries=400)
    x, y = (np.concatenate(parts) for parts in zip(*stream((0, 1), (2, 3), (4, 5)), strict=True))
    whole.fit(x, y)
    assert whole.tasks_ == [0, 1, 2]
    np.testing.assert_array_equal(whole.predict_proba(x), model.predict_proba(x))


def test_tasks_cannot_be_told_where_they_are_to_be_found():
    with pytest.raises(UsageError, match="leave the task out"):
        rival("slda").set_params(boundaries="detected").partial_fit(*clouds(0, 1), task="a")
    for wrong in (0, -3, True, "found", 2.5):
        with pytest.raises(UsageError, match="boundaries is"):
            divider(wrong, (3,))
