import sys
from dataclasses import replace

import pytest

from merlin_cl.cli import demo, exit_code
from merlin_cl.streams.settings.split import SplitMnistSettings
from runs import fakes

from .terminal import Screen


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


@pytest.fixture
def on_screen(tmp_path, monkeypatch):
    """Call the command in this process on a terminal of so many columns, in an empty folder: gives (exit code, what it wrote)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments, width=80, **environment):
        for name, value in {"COLUMNS": width, "LINES": 50, **environment}.items():
            monkeypatch.setenv(name, str(value))
        screen = Screen()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            patch.setattr(sys, "stderr", screen)
            code = exit_code([str(argument) for argument in arguments])
        return code, screen.getvalue()

    return call


@pytest.fixture
def small_demo(monkeypatch):
    """The demonstration on a few images, with smaller networks still."""
    usual = demo.configurations

    def configurations(options):
        few = SplitMnistSettings(tasks=2, images_per_task=20)
        return [
            replace(config, stream=few, method=replace(config.method, hidden_units=(8,), models=2, exemplars=10))
            for config in usual(options)
        ]

    monkeypatch.setattr(demo, "configurations", configurations)
