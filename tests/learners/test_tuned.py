"""The settings that ship were found by a search on held-out images, and runs have them."""

import json
import re
from importlib.resources import files

import pytest

from merlin_cl.cli.run import configured
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.search_space import Among
from merlin_cl.learners.tuned import search_record, tuned_settings
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tuning.plan import Plan, searched

SHIPPED = sorted(
    (record["method"], record["stream"]["name"])
    for record in (
        json.loads(file.read_text("utf-8"))
        for file in files("merlin_cl.learners.tuned").iterdir()
        if file.name.endswith(".json")
    )
)
shipped = pytest.mark.parametrize(("method", "stream"), SHIPPED)


@shipped
def test_a_record_says_how_its_settings_were_found(method, stream):
    record = search_record(method, stream)
    assert record["stream"]["evaluation"] == "held-out"
    assert record["stream"]["tasks"] < stream_settings(stream)().info().tasks
    assert not set(record["seeds"]) & set(range(5))  # those that results are reported for
    complete = [trial for trial in record["trials"] if trial["state"] == "complete"]
    top = max(complete, key=lambda trial: trial["curve"][-1])
    assert (record["settings"], record["value"]) == (top["values"], top["curve"][-1])
    assert record["command"].startswith(f"merlin tune {method} {stream} --")
    assert f" --trials {len(record['trials'])} " in record["command"]
    assert re.search("held-out training (images|examples)", record["obtained"])
    assert record["revision"] and not record["revision"].endswith("-changed")  # noqa: PT018


@shipped
def test_chosen_settings_are_within_the_space_of_the_search(method, stream):
    record = search_record(method, stream)
    for name, value in record["settings"].items():
        part = record["space"][name]
        assert value in part if isinstance(part, list) else part["low"] <= value <= part["high"]
    plan = Plan(method_settings(method), searched(stream_settings(stream)))
    assert record["settings"].keys() == record["space"].keys() == plan.space.keys()


@shipped
def test_a_run_has_the_chosen_settings_and_records_them(method, stream):
    _, config = configured([stream, "--method", method])
    chosen = tuned_settings(method, stream)
    recorded = config.record()["method"]
    assert chosen
    assert {name: recorded[name] for name in chosen} == chosen


def test_single_settings_can_still_be_changed():
    for method, stream in SHIPPED[:3]:
        name, part = next(iter(method_settings(method).space.items()))
        value = part.values[0] if isinstance(part, Among) else part.low
        _, config = configured([stream, "--method", method, f"--{name.replace('_', '-')}", str(value)])
        assert getattr(config.method, name) == value


@pytest.mark.parametrize("stream", ["split-cifar10", "split-cifar100"])
def test_all_methods_had_the_same_number_of_trials_on_photographs(stream):
    records = {method: search_record(method, stream) for method, name in SHIPPED if name == stream}
    assert len({len(record["trials"]) for record in records.values()}) == 1
    longer = {method for method, record in records.items() if record["stream"]["images_per_task"] > 600}
    assert longer == records.keys() & {"slda", "klda", "ranpac", "simplecil"}  # which learn no features: seconds a task
    assert len({str(record["stream"]) for method, record in records.items() if method not in longer}) <= 1


def test_a_stream_without_a_search_has_what_all_methods_share_and_the_methods_own():
    assert tuned_settings("er", "rotated-mnist") == {}
    kind = method_settings("er")
    info = stream_settings("rotated-mnist")().info()
    assert kind.preset("default", info) == kind.untuned(info)


@pytest.mark.parametrize(("stream", "budget"), [("split-mnist", 200), ("split-cifar10", 400)])
def test_rivals_may_keep_as_many_exemplars_as_merlin(stream, budget):
    info = stream_settings(stream)().info()
    for method in ("merlin", "gdumb-ensemble", "er", "gem", "ewc", "slda", "cn-dpm"):
        assert method_settings(method).preset("default", info).exemplars == budget
