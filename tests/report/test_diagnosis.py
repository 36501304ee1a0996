"""What the page says in words follows from the figures."""

import json

import pytest

from merlin_cl.report.page.build import content
from merlin_cl.report.page.sources import find, read

from .made import make_run

HOLDS, TEACHES, LIGHT = (
    "Does the weight distribution hold the tasks?",
    "Does the stream teach it more than the exemplars do?",
    "Is what it keeps lighter than one classifier?",
)


def answers(root):
    (stream,) = content(read(find([root])).runs)["streams"]
    ours = next(experiment for experiment in stream["experiments"] if experiment["method"] == "merlin")
    return {verdict["question"]: verdict["answer"] for verdict in ours["diagnosis"]["verdicts"]}


def make_pair(root, seeds, level):
    for seed in range(seeds):
        make_run(root, "merlin", seed, level=level)
        make_run(root, "gdumb-ensemble", seed, level=80.0)


@pytest.mark.parametrize(("lost", "answer"), [(0.0, "Yes"), (5.0, "In part"), (40.0, "No")])
def test_the_distribution_holds_what_sampled_models_still_know_at_the_end(tmp_path, lost, answer):
    folder = make_run(tmp_path)
    result = json.loads((folder / "result.json").read_text())
    for probe in result["diagnosis"]["final"]:
        probe["sampled_ensemble"] -= lost
    (folder / "result.json").write_text(json.dumps(result))
    assert answers(tmp_path)[HOLDS] == answer


@pytest.mark.parametrize(("level", "answer"), [(90.0, "Yes"), (70.0, "No")])
def test_the_stream_teaches_what_is_above_the_control_beyond_chance(tmp_path, level, answer):
    make_pair(tmp_path, 5, level)
    assert answers(tmp_path)[TEACHES] == answer


def test_a_difference_within_the_interval_is_unclear(tmp_path):
    for seed, level in enumerate((78.0, 82.0, 79.0, 81.0, 80.0)):
        make_run(tmp_path, "merlin", seed, level=level)
        make_run(tmp_path, "gdumb-ensemble", seed, level=80.0)
    assert answers(tmp_path)[TEACHES] == "Unclear"


@pytest.mark.parametrize("seeds", [1, 4])
def test_few_seeds_prove_nothing(tmp_path, seeds):
    make_pair(tmp_path, seeds, 95.0)
    assert answers(tmp_path)[TEACHES] == "Not known"


def test_without_the_control_nothing_is_said_of_it(tmp_path):
    make_run(tmp_path)
    assert set(answers(tmp_path)) == {HOLDS, LIGHT}


def test_a_method_without_probes_has_no_diagnosis(tmp_path):
    make_run(tmp_path, "single")
    (stream,) = content(read(find([tmp_path])).runs)["streams"]
    assert stream["experiments"][0]["diagnosis"] is None
