import pytest


@pytest.fixture(autouse=True)
def features_folder(tmp_path, monkeypatch):
    """Features of the tests are kept apart from a user's."""
    monkeypatch.setenv("MERLIN_FEATURES", str(tmp_path / "kept"))
    return tmp_path / "kept"
