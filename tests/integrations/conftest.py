"""The real libraries, where they can be imported."""

import importlib.util
import sys
import warnings
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "real_avalanche.py"


def imported(name):
    """A library beside whatever torch there is; what hinders its import is the reason to skip."""
    if not SCRIPT.exists():
        pytest.skip(f"{SCRIPT.name} is no part of what was installed")
    if SCRIPT.stem not in sys.modules:  # once: operators can be declared once
        spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[SCRIPT.stem] = module
    try:
        library = getattr(sys.modules[SCRIPT.stem], f"import_{name}")()
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"{name} cannot be imported here: {error}")
    if library is None:
        pytest.skip(f"{name} is not installed here; docs/integrations.md says how to get it")
    return library


@pytest.fixture(scope="session")
def avalanche_library():
    return imported("avalanche")


@pytest.fixture(scope="session")
def continuum_library():
    return imported("continuum")


@pytest.fixture
def their_warnings():
    """Warnings of other libraries are theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
