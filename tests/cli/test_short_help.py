"""`merlin run --help` fits a screen and shows the values that a run would have; `--help-all` says everything."""

import dataclasses
import re

import pytest

from merlin_cl.cli.run import configured
from merlin_cl.learners.registry import BUILT_IN, method_settings
from merlin_cl.streams.registry import stream_settings


@pytest.fixture(autouse=True)
def _eighty_columns(merlin, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def shown(out):
    """The options on the screen with the values beside them."""
    return dict(re.findall(r"^  --([\w-]+) ?(.*?)(?:  .*)?$", out, re.MULTILINE))


@pytest.mark.parametrize("stream", ["split-mnist", "split-cifar100", "permuted-mnist", "not-there.csv", "./not-there"])
@pytest.mark.parametrize("method", BUILT_IN)
def test_it_fits_a_screen_for_every_method(merlin, stream, method):
    code, out, _ = merlin("run", stream, "--method", method, "--help")
    assert code == 0
    assert len(out.splitlines()) <= 80
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(("stream", "method"), [("split-mnist", "er"), ("split-cifar100", "merlin")])
def test_the_values_are_those_of_a_run(merlin, stream, method):
    out = merlin("run", stream, "--method", method, "--help")[1]
    _, config = configured([stream, "--method", method])
    values = shown(out)
    for settings in (config.stream, config.method):
        for name, value in settings.record().items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert values[name.replace("_", "-")] == str(value)


def test_every_setting_is_named(merlin):
    values = shown(merlin("run", "--method", "merlin", "-h")[1])
    kinds = (method_settings("merlin"), stream_settings("split-mnist"))
    assert {field.name.replace("_", "-") for kind in kinds for field in dataclasses.fields(kind)} <= set(values)


def test_all_that_is_said_of_an_option_is_one_word_further(merlin):
    short, long = (merlin("run", "--help")[1], merlin("run", "--help-all")[1])
    assert "--help-all" in short
    assert "(`gradient`)" not in short
    assert "(`gradient`)" in long


@pytest.mark.parametrize("stream", ["split-mnist", "not-there.csv", "./not-there"])
def test_everything_fits_the_screen_s_width_whether_or_not_the_data_are_there(merlin, stream):
    code, out, _ = merlin("run", stream, "--method", "er", "--help-all")
    assert code == 0
    assert "--replay" in out
    assert max(map(len, out.splitlines())) <= 80
