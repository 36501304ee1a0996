"""The picture shows every figure that there is, and the same figures give the same file."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.report.diagnosis_plot import ACCURACY, draw
from merlin_cl.report.diagnosis_verdict import Knowledge, judge


def tasks_of(count, control=94.0, probes=(0.3, 3.0, 1.0, 1.0), chance=50.0):
    return [
        Knowledge(task, 98.0, 97.0, 96.0 - task, chance, control, *probes, last=None if control is None else 90.0)
        for task in range(count)
    ]


def words(tasks):
    content = draw(tasks, judge(tasks), "merlin on a stream", ["svg"])["svg"]
    return "".join(ElementTree.fromstring(content).itertext())


def test_all_that_was_asked_for_is_named():
    text = words(tasks_of(3))
    for name in [*(mark.label for mark in ACCURACY), "chance", "decoding error", "diversity", "merlin on a stream"]:
        assert name in text
    assert "task 3 is held in part" in text
    assert "\N{MINUS SIGN}4.0" in text


def test_what_was_not_measured_is_left_out():
    text = words(tasks_of(2, control=None, probes=(None,) * 4, chance=None))
    for name in ("gdumb-ensemble", "chance", "decoding error", "diversity"):
        assert name not in text


def test_the_same_figures_give_the_same_file():
    tasks = tasks_of(2)
    first, second = (draw(tasks, judge(tasks), "a title", ["svg", "png"]) for _ in range(2))
    assert first == second
    assert first["png"].startswith(b"\x89PNG")


@settings(max_examples=3, deadline=None)
@given(count=st.integers(1, 25), worst=st.floats(0, 100), diversity=st.floats(0, 100))
def test_any_figures_can_be_drawn(count, worst, diversity):
    tasks = [Knowledge(at, 100.0, worst, 0.0, 10.0, worst, worst, diversity, 0.0, 0.0) for at in range(count)]
    assert draw(tasks, judge(tasks), "x", ["svg"])["svg"]


@pytest.mark.parametrize("name", ["$a^2$", "<b> & c"])
def test_names_of_a_users_own_stream_are_drawn_as_they_are(name):
    tasks = tasks_of(1)
    content = draw(tasks, judge(tasks), name, ["svg"])["svg"]
    assert name in "".join(ElementTree.fromstring(content).itertext())
