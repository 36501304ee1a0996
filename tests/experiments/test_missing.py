"""What is said to be missing is what no result file has."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.config import RunConfig
from merlin_cl.streams.registry import stream_settings

SCRIPT = Path(__file__).parents[2] / "experiments" / "missing.py"
if not SCRIPT.is_file():
    pytest.skip("the experiments are not part of what was installed", allow_module_level=True)
_script = runpy.run_path(str(SCRIPT), run_name="missing")
Wanted, expected, in_words, missing, of_tables = (
    _script[name] for name in ("Wanted", "expected", "in_words", "missing", "of_tables")
)


def wanted(method="er", stream="split-cifar10", inferences=(None,), **settings):
    made = stream_settings(stream)()
    kind = method_settings(method).preset("default", made.info()).changed(settings)
    return Wanted(RunConfig(made, kind), frozenset(inferences))


def result_of(run, answers=(None,), **changes):
    """What a run of these settings leaves behind."""
    record = run.config.record()
    method = {name: list(value) if isinstance(value, tuple) else value for name, value in record["method"].items()}
    stream = {name: list(value) if isinstance(value, tuple) else value for name, value in record["stream"].items()}
    settings = {"stream": stream, "method": method | changes, "inference": "all", "device": "cpu", "threads": 1}
    return {
        "stream": stream["name"],
        "method": method["name"],
        **{"seed": 0, "batch_size": 10, "preset": "default", "source": "", "fingerprint": "", "tasks": 5},
        "settings": settings,
        "scores": [{"inference": answer} for answer in answers],
        "cost": {"cpu_seconds": {"learn": 120.0}},
    }


def test_a_run_is_missing_until_a_result_has_its_settings_and_seed():
    run = wanted()
    assert missing([run], []) == [run.config]
    assert missing([run], [result_of(run)]) == []
    assert missing([run], [result_of(run, replay=19)]) == [run.config]
    other_seed = Wanted(replace(run.config, seed=1), run.inferences)
    assert missing([other_seed], [result_of(run)]) == [other_seed.config]


def test_a_run_that_two_tables_ask_for_is_missing_once():
    assert missing([wanted(), wanted()], []) == [wanted().config]


def test_a_run_that_lacks_one_way_to_answer_is_asked_for_that_alone():
    run = wanted("merlin-paper", inferences=("aggregate", "aware"))
    assert [config.inference for config in missing([run], [])] == ["all"]
    assert [config.inference for config in missing([run], [result_of(run, ["aggregate"])])] == ["aware"]
    assert missing([run], [result_of(run, ["aggregate"]), result_of(run, ["aware"])]) == []


def test_results_from_before_augmentation_had_none():
    plain, moved = wanted(augmentation="none"), wanted(augmentation="shifts-and-mirrors")
    old = result_of(plain)
    del old["settings"]["method"]["augmentation"]
    assert missing([plain], [old]) == []
    assert missing([moved], [old]) == [moved.config]


def test_a_run_is_expected_to_cost_what_its_like_did():
    run = wanted()
    ((_, minutes),) = expected([replace(run.config, seed=3)], [result_of(run)])
    assert minutes == 2.0


def test_a_missing_run_is_told_as_the_command_that_makes_it():
    assert in_words(wanted(replay=3).config) == "merlin run split-cifar10 --method er --seed 0 --replay 3"


def test_tables_ask_for_rivals_with_the_paper_s_means():
    gem = [run for run in of_tables(["main"]) if run.config.method.method == "gem"]
    on_photographs = [run.config.method.record() for run in gem if "cifar" in run.config.stream.stream]
    assert {(record["network"], record["updates_per_batch"]) for record in on_photographs} == {("resnet18", 1)}
    assert len(on_photographs) == 3 + 1  # seeds of CIFAR-10 and of CIFAR-100
