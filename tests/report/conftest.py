import pytest

from .browsing import chromium
from .made import make_run


@pytest.fixture
def runs(tmp_path):
    """A folder with ours, the control and a rival, some of them over several seeds."""
    root = tmp_path / "runs"
    for seed in range(3):
        make_run(root, "merlin", seed)
        make_run(root, "gdumb-ensemble", seed)
    make_run(root, "single")
    return root


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium; tests that need one are skipped where there is none."""
    with chromium() as started:
        yield started
