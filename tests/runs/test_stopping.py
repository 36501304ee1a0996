"""A request to end is an interruption, once, and whoever handled signals before handles them after."""

import os
import signal
import threading

import pytest

from merlin_cl.runs.stopping import ToldToEnd, ending_in_order, exit_code


@pytest.fixture
def _default_handler():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_default_handler")
def test_a_signal_interrupts_and_those_after_it_are_passed_over():
    def asked_twice():
        with ending_in_order():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(ToldToEnd) as told:
        asked_twice()
    assert exit_code(told.value) == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_signals_that_somebody_handles_are_left_to_them():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with ending_in_order():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_another_thread_changes_no_handler():
    handlers = []

    def work():
        with ending_in_order():
            handlers.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [before]


def test_ctrl_c_has_the_code_that_shells_know():
    assert exit_code(KeyboardInterrupt()) == 130
