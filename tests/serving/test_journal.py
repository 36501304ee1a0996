"""A journal keeps what it has acknowledged, once, and says so when it cannot."""

import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.serving.journal import ConflictError, EntryOutcome, Journal, Request, StorageError


def some(label=0, count=2, **more):
    return Request("learn", np.full((count, 3), label, dtype=np.float64), (label,) * count, **more)


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "journal.sqlite")
    yield made
    made.close()


@given(
    kind=st.sampled_from([np.uint8, np.float64]),
    labels=st.lists(st.text(min_size=1) | st.integers(-(2**53), 2**53), min_size=1, max_size=4),
    task=st.none() | st.text(min_size=1) | st.integers(0, 9),
    end=st.booleans(),
)
def test_a_request_is_read_as_it_was_written(kind, labels, task, end):
    x = np.arange(6 * len(labels)).astype(kind).reshape(len(labels), 2, 3)
    request = Request("learn", x, tuple(labels), task, end)
    again = Request.read(request.content, request.raw)
    np.testing.assert_array_equal(again.inputs, x)
    assert again.inputs.dtype == kind
    assert (again.labels, again.task, again.end_task) == (tuple(labels), task, end)
    assert again.digest == request.digest


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path):
    """Nothing is closed: the file and its log are copied as a kill would leave them."""
    journal = Journal(tmp_path / "journal.sqlite")
    assert journal.append("a", some(1)).number == 1
    assert journal.append("b", some(2, task="t", end_task=True)).number == 2
    left = tmp_path / "left"
    left.mkdir()
    for file in tmp_path.glob("journal.sqlite*"):
        (left / file.name).write_bytes(file.read_bytes())
    again = Journal(left / "journal.sqlite")
    entries = again.after(0, 100)
    assert [(entry.number, entry.id, entry.request.labels, entry.request.task) for entry in entries] == [
        (1, "a", (1, 1), None),
        (2, "b", (2, 2), "t"),
    ]
    for one in (again, journal):
        one.close()


def test_a_request_that_is_sent_again_is_one_entry(journal):
    first = journal.append("a", some(1))
    again = journal.append("a", some(1))
    assert (first.number, first.again, again.number, again.again) == (1, False, 1, True)
    assert journal.last() == 1
    with pytest.raises(ConflictError, match="'a' belongs to another request, number 1"):
        journal.append("a", some(2))
    with pytest.raises(ConflictError):
        journal.append("a", some(1, end_task=True))


def test_what_was_learned_together_is_not_cut_in_two(journal):
    for number in range(8):
        journal.append(str(number), some(number))
    journal.note(EntryOutcome(number, 1 if number <= 5 else 6, 2) for number in range(1, 8))
    assert [entry.number for entry in journal.after(0, 3)] == [1, 2, 3, 4, 5]
    assert [entry.number for entry in journal.after(5, 1)] == [6, 7]
    assert [entry.number for entry in journal.after(7, 1)] == [8]
    assert journal.waiting(5) == 6


def test_answers_before_learning_are_kept_as_they_were_at_first(journal):
    journal.append("a", some(1))
    journal.append("b", some(2))
    journal.note([EntryOutcome(1, 1, 2, None, 2, 1), EntryOutcome(2, 2, 2, "It diverged.", 0)])
    journal.note([EntryOutcome(1, 1, 2, None, 0, 2)])
    assert journal.answered(100) == [(2, 2, 1), (2, 0, None)]
    assert journal.answered(1) == [(2, 0, None)]
    assert journal.state_of("a") == (1, "learned", None)
    assert journal.state_of("b") == (2, "refused", "It diverged.")
    assert journal.state_of("c") is None


def test_old_versions_and_what_only_they_needed_go(journal):
    for number in range(1, 7):
        journal.append(str(number), some(number))
        journal.add_version(number, {}, keep=3)
    assert list(journal.versions()) == [4, 5, 6]
    kept = [entry.request.inputs is not None for entry in journal.after(0, 100)]
    assert kept == [False, False, False, False, True, True]
    assert journal.append("1", some(1)).again  # who sent it is still known
    journal.append("back", Request("rollback", version=4))
    journal.append("more", some(9))
    assert journal.add_version(6, {}, keep=1) == [5]
    assert list(journal.versions()) == [4, 6]


def test_no_two_services_use_one_journal(tmp_path, journal):
    with pytest.raises(UsageError, match="in use by another service"):
        Journal(tmp_path / "journal.sqlite")


def test_a_full_disk_keeps_nothing_and_says_so(journal):
    journal.append("a", some(1))
    (pages,) = journal._base.execute("PRAGMA page_count").fetchone()
    journal._base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="nothing of this request was kept: make room"):
        journal.append("b", some(2, count=10_000))
    assert journal.last() == 1
    journal._base.execute("PRAGMA max_page_count = 1000000")
    assert journal.append("b", some(2, count=10_000)).number == 2


@pytest.mark.parametrize("content", [b"no journal at all" * 100, b"SQLite format 3\0" + b"\1" * 5000])
def test_what_is_no_journal_is_refused(tmp_path, content):
    (tmp_path / "journal.sqlite").write_bytes(content)
    with pytest.raises(MerlinError, match="is no journal of a service"):
        Journal(tmp_path / "journal.sqlite")


def test_a_newer_journal_is_left_alone(tmp_path):
    Journal(tmp_path / "journal.sqlite").close()
    with sqlite3.connect(tmp_path / "journal.sqlite") as base:
        base.execute("UPDATE about SET value = '2' WHERE name = 'format'")
    base.close()
    with pytest.raises(MerlinError, match="newer merlin-cl"):
        Journal(tmp_path / "journal.sqlite")
