"""How far runs and grids have come."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.report.page.losses import POINTS, thinned
from merlin_cl.report.page.progress import busy, grid_progress, run_progress
from merlin_cl.report.page.sources import read_run
from merlin_cl.runs.folder import RunFolder

from ..made import BEGUN, SECONDS_A_TASK, make_run


def progress(folder, *, at_work=False, after=0.0):
    clock = BEGUN.timestamp() + after
    return run_progress(read_run(folder), at_work, lambda: clock)


def test_a_finished_run_is_done(tmp_path):
    told = progress(make_run(tmp_path))
    assert (told["state"], told["done"], told["tasks"], told["left"]) == ("finished", 3, 3, None)
    assert told["elapsed"] == 3 * SECONDS_A_TASK


def test_a_run_at_work_says_how_much_longer(tmp_path):
    folder = make_run(tmp_path, done=1)
    told = progress(folder, at_work=True, after=1.4 * SECONDS_A_TASK)
    assert (told["state"], told["done"]) == ("running", 1)
    assert told["elapsed"] == pytest.approx(1.4 * SECONDS_A_TASK)
    assert told["left"] == pytest.approx(1.6 * SECONDS_A_TASK)


def test_before_the_first_task_is_done_nobody_knows(tmp_path):
    assert progress(make_run(tmp_path, done=0), at_work=True)["left"] is None


@pytest.mark.parametrize(
    ("event", "state"), [({"event": "failed", "error": "ValueError: no"}, "failed"), ({"event": "stopped"}, "stopped")]
)
def test_a_run_that_ended_early_says_why(tmp_path, event, state):
    folder = make_run(tmp_path, done=1)
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": BEGUN.isoformat(), **event}) + "\n")
    told = progress(folder)
    assert told["state"] == state
    assert told["reason"] == event.get("error", "by its user")


def test_a_run_whose_process_was_killed_is_interrupted(tmp_path):
    assert progress(make_run(tmp_path, done=1))["state"] == "interrupted"


def test_a_run_is_busy_while_its_lock_is_held(tmp_path):
    folder = make_run(tmp_path, done=1)
    assert not busy(folder)
    with RunFolder(folder).locked():
        assert busy(folder)


def test_a_resumed_run_counts_a_task_once(tmp_path):
    folder = make_run(tmp_path, done=1)
    later = datetime.fromtimestamp(BEGUN.timestamp() + 1000, UTC).isoformat()
    with (folder / "events.jsonl").open("a") as file:
        for event in ({"event": "resumed", "tasks_done": 1, "tasks": 3}, {"event": "task", "task": 1}):
            file.write(json.dumps({"time": later, **event}) + "\n")
    told = progress(folder, at_work=True, after=1002)
    assert told["done"] == 1
    assert told["elapsed"] == pytest.approx(SECONDS_A_TASK + 2)


def test_a_grid_is_counted_and_its_failures_have_reasons(tmp_path):
    entry = {"stream": "split-mnist", "method": "er", "seed": 0, "run": None, "reason": None, "tries": 1}
    runs = [
        {**entry, "status": "done", "run": "one"},
        {**entry, "status": "running"},
        {**entry, "status": "queued"},
        {**entry, "status": "failed", "reason": "out of memory", "tries": 3},
    ]
    (tmp_path / "grid.json").write_text(json.dumps({"format": 1, "seconds_left": 90, "runs": runs}))
    told = grid_progress(tmp_path)
    assert {name: told[name] for name in ("total", "done", "running", "queued", "failed", "left")} == {
        "total": 4,
        "done": 1,
        "running": 1,
        "queued": 1,
        "failed": 1,
        "left": 90,
    }
    assert told["failures"] == [{"name": "er on split-mnist, seed 0", "reason": "out of memory", "tries": 3}]


@pytest.mark.parametrize("text", [None, "{", "[]", '{"runs": []}'])
def test_without_a_readable_grid_there_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / "grid.json").write_text(text)
    assert grid_progress(tmp_path) is None


@given(st.lists(st.floats(0.5, 100), min_size=1, max_size=1000))
def test_thinned_curves_keep_their_ends_and_their_range(values):
    points = thinned(values)
    assert len(points) <= POINTS
    assert all(1 <= step <= len(values) for step, _ in points)
    assert [step for step, _ in points] == sorted(step for step, _ in points)
    assert min(values) * 0.999 <= min(value for _, value in points)
    assert max(value for _, value in points) <= max(values) * 1.001
