"""Results of unfinished runs agree with what the run will say itself."""

import json

import pytest

from merlin_cl.report.page.partial_result import partial_result
from merlin_cl.runs.folder import RunFolder

from ..made import make_run


@pytest.mark.parametrize("method", ["merlin", "single"])
def test_after_the_last_task_it_is_the_result_but_for_cost_and_final_probes(tmp_path, method):
    folder = RunFolder(make_run(tmp_path, method))
    partial = partial_result(folder.config_record(), folder.events())
    result = folder.result()
    unknown = {"cost", "parameters", "diagnosis", "format"}
    assert {name: partial[name] for name in set(result) - unknown} == {
        name: result[name] for name in set(result) - unknown
    }
    assert partial["diagnosis"]["learned"] == result["diagnosis"]["learned"]


def test_a_row_that_was_written_twice_counts_once_and_the_last_holds(tmp_path):
    folder = RunFolder(make_run(tmp_path, "single", done=2))
    events = folder.events()
    again = json.loads(json.dumps([event for event in events if event["event"] == "accuracy"][-1]))
    again["row"] = [1.0, 2.0]
    partial = partial_result(folder.config_record(), [*events, again])
    score = next(one for one in partial["scores"] if one["view"] == again["view"])
    assert score["matrix"][1] == [1.0, 2.0]
    assert partial["tasks"] == 2


def test_views_that_were_not_all_written_before_a_kill_end_at_the_same_task(tmp_path):
    folder = RunFolder(make_run(tmp_path, "single", done=2))
    events = folder.events()
    last = max(at for at, event in enumerate(events) if event["event"] == "accuracy")
    partial = partial_result(folder.config_record(), events[:last])
    assert partial["tasks"] == 1
    assert all(len(score["matrix"]) == 1 for score in partial["scores"])


def test_before_the_first_task_is_done_there_are_no_scores(tmp_path):
    folder = RunFolder(make_run(tmp_path, done=0))
    assert partial_result(folder.config_record(), folder.events())["scores"] == []
