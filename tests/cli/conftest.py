import pytest

from merlin_cl.cli import exit_code
from runs import fakes


@pytest.fixture(autouse=True)
def known_methods(monkeypatch):
    monkeypatch.setattr(fakes.registry, "BUILT_IN", dict(fakes.registry.BUILT_IN))
    fakes.register()


@pytest.fixture
def merlin(capsys, tmp_path, monkeypatch):
    """Call the command in an empty folder: gives (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments):
        capsys.readouterr()
        code = exit_code([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def small():
    """The shortest run there is."""
    return ["run", "split-mnist", "--method", "means", "--tasks", "2", "--images-per-task", "20"]
