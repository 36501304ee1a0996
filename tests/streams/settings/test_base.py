"""Settings refuse what makes no sense, say what a stream will be, and cost no import of torch."""

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.protocol import StreamInfo
from merlin_cl.streams import stream_names, stream_settings
from merlin_cl.streams.settings import PermutedMnistSettings, RotatedMnistSettings, SplitMnistSettings


@pytest.mark.parametrize("name", ["split-mnist", "permuted-mnist", "rotated-mnist"])
def test_info_is_what_the_built_stream_says(name, mnist):
    settings = stream_settings(name)(images_per_task=20)
    assert settings.build(0, mnist).info == settings.info()
    assert settings.info().name == name
    assert type(settings)(**settings.record()) == settings


def test_defaults_are_the_protocol_of_the_paper():
    assert SplitMnistSettings().info() == StreamInfo("split-mnist", (1, 28, 28), 10, 5, domain_incremental=False)
    assert PermutedMnistSettings().info() == StreamInfo("permuted-mnist", (1, 28, 28), 10, 10, domain_incremental=True)
    assert SplitMnistSettings().record() == {
        "tasks": 5,
        "images_per_task": 1000,
        "image_size": 28,
        "class_order": "paper",
        "evaluation": "test",
    }


@pytest.mark.parametrize(
    ("settings", "changes", "sentence"),
    [
        (SplitMnistSettings, {"tasks": 0}, "tasks is 0; it must be a whole number of at least 1"),
        (SplitMnistSettings, {"tasks": 6}, "tasks is 6; split-mnist has at most 5 tasks"),
        (PermutedMnistSettings, {"tasks": 2.5}, "tasks is 2.5"),
        (PermutedMnistSettings, {"images_per_task": -1}, "images_per_task is -1"),
        (PermutedMnistSettings, {"evaluation": "heldout"}, "did you mean 'held-out'"),
        (RotatedMnistSettings, {"degrees_per_task": float("nan")}, "degrees_per_task is nan"),
        (RotatedMnistSettings, {"tasks": -3}, "tasks is -3"),
    ],
)
def test_senseless_settings_are_refused(settings, changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        settings(**changes)


def test_unknown_stream_suggests_the_nearest():
    with pytest.raises(UsageError, match="Unknown stream 'split-mnits'; did you mean 'split-mnist'"):
        stream_settings("split-mnits")


def test_another_package_can_add_a_stream(monkeypatch):
    point = EntryPoint("their-stream", "merlin_cl.streams.settings:RotatedMnistSettings", "merlin_cl.streams")
    monkeypatch.setattr(
        "merlin_cl.streams.registry.entry_points", lambda **wanted: EntryPoints([point]).select(**wanted)
    )
    assert stream_names()[-1] == "their-stream"
    assert stream_settings("their-stream") is RotatedMnistSettings


def test_settings_and_registry_import_neither_torch_nor_numpy():
    code = (
        "import sys, merlin_cl.streams as s; [s.stream_settings(n)().info() for n in s.stream_names()];"
        "sys.exit(bool({'torch', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
