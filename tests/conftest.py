"""What holds for every test: one thread a process, and no limit on time but against hanging.

Tiny tensor operations are many times slower when two processes share two cores. Where other work takes those cores, a step that
takes a tenth of a second may take ten: Hypothesis is not to call that a failure.
"""

import gc

import pytest
import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
gc.disable()  # collecting tests makes objects by the hundred thousand, which all stay


def pytest_collection_finish():
    """From here on the collector looks at what tests make, and no more at all modules and tests again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def short_fits(monkeypatch):
    """MERLIN fits priors for a tenth of the steps. It keeps to the same rules; how well fits do is tested without this."""
    from merlin_cl.learners.merlin import consolidation

    monkeypatch.setattr(consolidation, "STEPS", consolidation.STEPS // 10)
