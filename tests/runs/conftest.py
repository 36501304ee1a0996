import io
import signal

import pytest

from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.runs.run import run
from merlin_cl.streams.settings import SplitMnistSettings

from . import fakes


@pytest.fixture(autouse=True)
def known_methods(monkeypatch):
    monkeypatch.setattr(fakes.registry, "BUILT_IN", dict(fakes.registry.BUILT_IN))
    fakes.register()


@pytest.fixture
def config():
    return RunConfig(SplitMnistSettings(tasks=3, images_per_task=60), fakes.MeansSettings())


@pytest.fixture
def silent():
    return PlainDisplay(io.StringIO())


@pytest.fixture
def done(config, tmp_path, silent):
    """A finished run."""
    return run(config, tmp_path, silent)


@pytest.fixture
def nobody_handles_sigterm():
    """As in a process of its own: libraries that other tests use handle it, and what they do ends the tests."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)
