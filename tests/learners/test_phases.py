"""Work is counted towards its phase, told of step by step, and its losses are taken once."""

import pytest

from merlin_cl.learners.phases import Phases


def test_time_is_counted_even_where_the_work_fails():
    phases = Phases()
    with pytest.raises(ArithmeticError), phases.timed("base"):
        raise ArithmeticError
    before = phases.cpu_seconds["base"]
    with phases.timed("base"):
        sum(range(10_000))
    assert phases.cpu_seconds["base"] >= before >= 0


def test_the_listener_hears_of_every_step_after_it_was_done():
    phases, heard = Phases(), []
    phases.listener = lambda *told: heard.append(told)
    done = []
    for item in phases.steps("learn", "abc", 3):
        assert len(heard) == len(done)
        done.append(item)
    assert heard == [("learn", 1, 3), ("learn", 2, 3), ("learn", 3, 3)]
    assert done == list("abc")


def test_losses_are_taken_once():
    phases = Phases()
    for value in (2.0, 1.0):
        phases.note_loss("vae", value)
    assert phases.take_losses() == {"vae": [2.0, 1.0]}
    assert phases.take_losses() == {}
