"""What holds for every test: one thread a process, and no limit on time but against hanging.

Tiny tensor operations are many times slower when two processes share two cores. Where other work takes those cores, a step that
takes a tenth of a second may take ten: Hypothesis is not to call that a failure.
"""

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Find the tests. They and all modules stay: the garbage collector does not look at them, now or while tests run.

    torch is there if they need it; the process that only hands them out to others does without.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def no_power_cut():
    """Nobody pulls the plug while tests run: what is written need not reach the disk, which is waited for thousands of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def short_fits(monkeypatch):
    """MERLIN fits priors for a tenth of the steps. It keeps to the same rules; how well fits do is tested without this."""
    from merlin_cl.learners.merlin import consolidation

    monkeypatch.setattr(consolidation, "STEPS", consolidation.STEPS // 10)
