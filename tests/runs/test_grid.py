"""The loop of a grid, with an engine that computes in this process and fails where it is told to."""

import io
import json
import os
import signal

import pytest

from merlin_cl.errors import MerlinError
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.engines.engine import JobOutcome
from merlin_cl.runs.engines.work import compute
from merlin_cl.runs.folder import RunFolder, exclusive, run_folders
from merlin_cl.runs.grid import GridStoppedError, _Work, compute_grid
from merlin_cl.runs.grid_state import GridState, JobState, seconds_left
from merlin_cl.runs.jobs import Checker, Job, tasks_done
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.streams.settings import PermutedMnistSettings, SplitMnistSettings

from .fakes import MeansSettings


class HereEngine:
    """One run at a time, in this process; `troubles` are reasons to fail by seed, one a try."""

    name = "here"

    def __init__(self, root, troubles=None, slots=2):
        self.root, self.slots, self.troubles = root, slots, troubles or {}
        self.started, self.waiting, self.most = [], [], 0

    def start(self, job):
        self.started.append(job.config.seed)
        self.waiting.append(job)
        self.most = max(self.most, len(self.waiting))

    def ended(self, seconds):
        job = self.waiting.pop(0)
        troubles = self.troubles.get(job.config.seed, [])
        trouble = troubles.pop(0) if troubles else None
        if trouble is KeyboardInterrupt:
            raise KeyboardInterrupt
        if trouble is signal.SIGTERM:
            os.kill(os.getpid(), signal.SIGTERM)
        return [JobOutcome(job, trouble or compute(job.config.record(), self.root))]

    def finished(self, job):
        folder = job.folder(self.root)
        return folder is not None and folder.finished

    def tasks_done(self, job):
        return tasks_done(job.folder(self.root))

    def close(self):
        self.waiting = []


@pytest.fixture
def show():
    return PlainDisplay(io.StringIO())


@pytest.fixture
def jobs(show):
    stream = SplitMnistSettings(tasks=2, images_per_task=20)
    return Checker(show).jobs(RunConfig(stream, MeansSettings(), seed) for seed in range(4))


def grid_file(root):
    return json.loads((root / "grid.json").read_text())


def statuses(root):
    return {run["seed"]: (run["status"], run["tries"], run["reason"]) for run in grid_file(root)["runs"]}


def test_all_runs_are_computed_and_named(jobs, tmp_path, show):
    engine = HereEngine(tmp_path)
    state = compute_grid(jobs, tmp_path, engine, retries=0, show=show)
    assert [entry.status for entry in state.entries] == ["done"] * 4
    assert engine.most == engine.slots
    for run in grid_file(tmp_path)["runs"]:
        result = json.loads((tmp_path / run["run"] / "result.json").read_text())
        assert (result["seed"], result["method"], run["status"]) == (run["seed"], "means", "done")


def test_finished_runs_are_not_computed_again(jobs, tmp_path, show):
    compute_grid(jobs[1:3], tmp_path, HereEngine(tmp_path), retries=0, show=show)
    engine = HereEngine(tmp_path)
    compute_grid(jobs, tmp_path, engine, retries=0, show=show)
    assert engine.started == [0, 3]
    assert {status for status, _, _ in statuses(tmp_path).values()} == {"done"}
    assert "2 of 4 runs are finished already." in show.stream.getvalue()


def test_what_fails_is_tried_again_so_often_and_stops_nothing(jobs, tmp_path, show):
    troubles = {1: ["once"], 2: ["again", "and again", "for the last time"]}
    engine = HereEngine(tmp_path, troubles)
    state = compute_grid(jobs, tmp_path, engine, retries=2, show=show)
    assert statuses(tmp_path) == {
        0: ("done", 1, None),
        1: ("done", 2, None),
        2: ("failed", 3, "for the last time"),
        3: ("done", 1, None),
    }
    assert [entry.job.config.seed for entry in state.of("failed")] == [2]
    assert engine.started.count(2) == 3
    assert "given up: for the last time" in show.stream.getvalue()


def test_failed_runs_have_another_chance_when_the_grid_is_started_again(jobs, tmp_path, show):
    compute_grid(jobs, tmp_path, HereEngine(tmp_path, {2: ["no"]}), retries=0, show=show)
    assert statuses(tmp_path)[2][0] == "failed"
    engine = HereEngine(tmp_path)
    compute_grid(jobs, tmp_path, engine, retries=0, show=show)
    assert engine.started == [2]
    assert statuses(tmp_path)[2] == ("done", 1, None)


def test_stopping_leaves_a_state_to_go_on_from(jobs, tmp_path, show):
    with pytest.raises(GridStoppedError, match="the same command goes on"):
        compute_grid(jobs, tmp_path, HereEngine(tmp_path, {1: [KeyboardInterrupt]}), retries=0, show=show)
    assert sorted(run["status"] for run in grid_file(tmp_path)["runs"]) == ["done", "queued", "queued", "queued"]
    state = compute_grid(jobs, tmp_path, HereEngine(tmp_path), retries=0, show=show)
    assert len(state.of("done")) == 4


@pytest.mark.usefixtures("nobody_handles_sigterm")
def test_sigterm_leaves_no_run_that_goes_on_being_called_running(jobs, tmp_path, show):
    with pytest.raises(GridStoppedError, match="the same command goes on") as caught:
        compute_grid(jobs, tmp_path, HereEngine(tmp_path, {1: [signal.SIGTERM]}), retries=0, show=show)
    assert caught.value.exit_code == 143
    assert sorted(run["status"] for run in grid_file(tmp_path)["runs"]) == ["done", "queued", "queued", "queued"]
    assert grid_file(tmp_path)["counts"]["running"] == 0


def test_a_damaged_checkpoint_costs_a_run_no_try(jobs, tmp_path, show):
    compute_grid(jobs[:1], tmp_path, HereEngine(tmp_path), retries=0, show=show)
    (folder,) = run_folders(tmp_path)
    (folder.path / "result.json").unlink()
    max(folder.checkpoints.iterdir()).write_bytes(b"junk")
    compute_grid(jobs[:1], tmp_path, HereEngine(tmp_path), retries=0, show=show)
    assert statuses(tmp_path)[0] == ("done", 1, None)


def test_a_full_disk_is_named_with_what_to_do(jobs, tmp_path, show, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "grid.json"))

    monkeypatch.setattr(GridState, "write", full)
    with pytest.raises(MerlinError, match=r"No space left on device at .*grid\.json.*the same command goes on"):
        compute_grid(jobs, tmp_path, HereEngine(tmp_path), retries=0, show=show)


def test_a_second_grid_in_the_same_folder_is_refused(jobs, tmp_path, show):
    with exclusive(tmp_path / "grid.lock", "taken"), pytest.raises(MerlinError, match="Another grid is at work"):
        compute_grid(jobs, tmp_path, HereEngine(tmp_path), retries=0, show=show)


def test_a_real_error_is_the_reason(show, tmp_path):
    stream = SplitMnistSettings(tasks=2, images_per_task=20)
    job = Job(RunConfig(stream, MeansSettings(), source="data that are not there"))
    state = compute_grid([job], tmp_path, HereEngine(tmp_path), retries=0, show=show)
    assert "data are other ones" in state.entries[0].reason


def test_data_and_methods_are_tried_before_anything_starts(show, tmp_path):
    from merlin_cl.learners.rivals.icarl_settings import ICaRLSettings

    for config in (
        RunConfig(PermutedMnistSettings(), ICaRLSettings()),  # iCaRL needs new classes
        RunConfig(SplitMnistSettings(images_per_task=5000), MeansSettings()),  # more than the embedded slice has
        RunConfig(SplitMnistSettings(), MeansSettings(), inference="marginal"),
        RunConfig(SplitMnistSettings(), MeansSettings(), device="cuda:77"),
    ):
        with pytest.raises(MerlinError):
            Checker(show).jobs([config])


def left(state, slots, part):
    costs = state.costs(lambda entry: part)
    return None if costs is None else seconds_left(costs, slots)


def test_time_left_is_counted_from_runs_of_the_same_kind():
    now = [0.0]
    quick, slow = (
        [Job(RunConfig(SplitMnistSettings(), MeansSettings(noise=noise), seed, tasks=5)) for seed in range(3)]
        for noise in (0.1, 0.2)
    )
    state = GridState([JobState(job) for job in [*quick, *slow]], clock=lambda: now[0])
    assert left(state, 2, 0.0) is None
    for entry, seconds in zip([state.entries[0], state.entries[3]], (10, 100), strict=True):
        state.begin(entry)
        now[0] += seconds
        state.end(entry, None, 0)
    assert left(state, 2, 0.0) == pytest.approx((2 * 10 + 2 * 100) / 2)
    state.begin(state.entries[4])
    now[0] += 30
    # What it has done in 30 seconds counts towards its kind: 100 and 120 seconds, 110 on average.
    assert left(state, 1, 0.25) == pytest.approx(2 * 10 + 0.75 * 110 + 110)
    assert left(state, 9, 0.25) == pytest.approx(110)  # never less than the longest run alone


def test_the_bar_moves_by_what_runs_cost(tmp_path):
    """Nine short runs and a long one are done, and a short one is ahead: a hundredth is left, not an eleventh."""
    bars = []

    class Shown(PlainDisplay):
        def update(self, text, done, total):
            bars.append((done, total))

    quick = [Job(RunConfig(SplitMnistSettings(tasks=1), MeansSettings(), seed)) for seed in range(10)]
    state = GridState([JobState(job, status="done", seconds=1.0) for job in quick[:9]])
    state.entries.append(
        JobState(Job(RunConfig(SplitMnistSettings(tasks=2), MeansSettings())), status="done", seconds=91.0)
    )
    state.entries.append(JobState(quick[9]))
    work = _Work(state, tmp_path, HereEngine(tmp_path), retries=0, show=Shown(io.StringIO()))
    work._tell()
    state.entries[-1].status = "failed"
    work.news = True
    work._tell()
    assert bars == [(10_000, 10_100), (10_100, 10_100)]


def test_configurations_are_read_once_however_often_a_run_is_looked_for(jobs, tmp_path, show, monkeypatch):
    compute_grid(jobs, tmp_path, HereEngine(tmp_path), retries=0, show=show)
    read = []
    monkeypatch.setattr(
        RunFolder, "config", lambda folder, known=RunFolder.config: read.append(folder) or known(folder)
    )
    for path in tmp_path.glob("*/config.json"):
        path.touch()  # changed, as far as anyone can tell
    for _ in range(3):
        assert all(job.folder(tmp_path) is not None for job in jobs)
    assert len(read) == len(jobs)


def test_a_damaged_run_in_the_folder_is_passed_over(jobs, tmp_path, show):
    compute_grid(jobs[:1], tmp_path, HereEngine(tmp_path), retries=0, show=show)
    (folder,) = tmp_path.glob("*/config.json")
    damaged = folder.parent.with_name(f"{jobs[0].stem}00000000")
    damaged.mkdir()
    (damaged / "config.json").write_text("{")
    assert jobs[0].folder(tmp_path).path == folder.parent
