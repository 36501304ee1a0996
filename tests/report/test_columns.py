"""Columns that there is no room for go, the least worth first; none is cut."""

from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.report.columns import Column, fitting

COLUMNS = [
    Column("method", str, left=True),
    Column("accuracy", lambda item: "95.1", worth=3),
    Column("seeds", lambda item: "10", worth=1),
    Column("memory", lambda item: "157 KB\nkept", worth=2),
]


def names(width):
    return [column.heading for column in fitting(COLUMNS, ["merlin", "gdumb-ensemble"], width)]


def test_the_least_worth_goes_first_and_the_order_stays():
    needed = sum(column.width(["merlin", "gdumb-ensemble"]) for column in COLUMNS)
    assert names(needed) == ["method", "accuracy", "seeds", "memory"]
    assert names(needed - 1) == ["method", "accuracy", "memory"]
    assert names(1) == ["method"]


@given(width=st.integers(0, 60))
def test_whatever_may_go_and_stays_has_room(width):
    kept = fitting(COLUMNS, ["merlin"], width)
    assert len(kept) == 1 or sum(column.width(["merlin"]) for column in kept) <= width


def test_the_longest_line_counts():
    assert Column("x", lambda item: "12\n12345").width([0]) == 5 + 2
