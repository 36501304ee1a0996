from dataclasses import replace

import pytest

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs.config import RunConfig

from . import fakes


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"batch_size": 11},
        {"inference": "aggregate"},
        {"threads": 2},
        {"device": "cuda"},
        {"source": "other data"},
        {"fingerprint": "another"},
        {"method": fakes.MeansSettings(noise=0.2)},
        {"method": fakes.QuietSettings()},
    ],
)
def test_whatever_influences_the_result_gives_another_folder(config, change):
    assert replace(config, **change).name != config.name


def test_labels_do_not_give_another_folder(config):
    assert replace(config, preset="other", data="somewhere", place="there", tasks=3).name == config.name


def test_the_folder_is_named_after_what_is_in_it(config):
    assert replace(config, seed=4).name == f"split-mnist-means-s4-{replace(config, seed=4).digest}"


def test_record_and_back(config):
    changed = replace(config, seed=5, inference="aware", preset="other", data="d", source="s")
    assert RunConfig.from_record(changed.record()) == changed


@pytest.mark.parametrize("change", [{"seed": -1}, {"batch_size": 0}, {"threads": 0}, {"inference": "agregate"}])
def test_values_that_make_no_sense_are_refused(config, change):
    with pytest.raises(UsageError, match=next(iter(change))):
        replace(config, **change)


def test_a_setting_nobody_knows_is_named(config):
    record = config.record()
    record["method"]["nois"] = 3
    with pytest.raises(MerlinError, match="'nois'"):
        RunConfig.from_record(record)
