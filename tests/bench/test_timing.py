"""Rivals take turns, so that a busy moment hits all of them alike."""

from merlin_cl.bench.timing import compare


def test_rivals_take_turns_after_each_has_warmed_up():
    called = []
    taken = compare({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, seconds=0.0, warm_up=2)
    assert called[:4] == ["a", "a", "b", "b"]
    assert called[4:] == ["a", "b"] * 8
    assert set(taken) == {"a", "b"}
    assert min(taken.values()) >= 0
