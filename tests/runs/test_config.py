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


def old_record(config, **settings):
    """What a version before recorded of a method that has changed since."""
    record = config.record()
    record["method"] = {"name": settings.pop("name"), **settings}
    return record


def test_settings_of_an_earlier_version_say_which_version_reads_them(config):
    record = old_record(config, name="merlin", exemplars=200, rank=48)
    with pytest.raises(MerlinError, match=r"config.json has the setting 'rank' .* merlin-cl 0.1.0 reads it.$"):
        RunConfig.from_record(record)


def test_a_setting_that_has_become_a_constant_is_dropped_where_it_had_that_value(config):
    kept = RunConfig.from_record(old_record(config, name="gdumb", exemplars=50, fine_tune_batch=20))
    assert kept.method.exemplars == 50
    with pytest.raises(
        MerlinError, match=r"'fine_tune_batch', which is the same for all now; merlin-cl 0.1.0 reads it"
    ):
        RunConfig.from_record(old_record(config, name="gdumb", exemplars=50, fine_tune_batch=10))
