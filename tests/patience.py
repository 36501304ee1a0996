"""Waiting in tests. A limit stands only against hanging: other work may take the cores for as long as it likes."""

import time

PATIENCE = 300.0
"""Seconds before something is taken to hang."""


def wait_for(condition, ended=lambda: None):
    """Wait until the condition holds. `ended` says why it never will, once that is known."""
    given_up = time.monotonic() + PATIENCE
    while not condition():
        reason = ended()
        assert reason is None or condition(), reason
        assert time.monotonic() < given_up, f"nothing came in {PATIENCE:.0f} s"
        time.sleep(0.01)
