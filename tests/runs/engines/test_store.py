"""Run folders mirrored to a URL: what a worker left there another one goes on with."""

import json

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.runs.engines.store import Store
from merlin_cl.runs.engines.work import compute, compute_remotely
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.jobs import Checker

pytest.importorskip("fsspec")


@pytest.fixture
def url(tmp_path):
    return f"file://{tmp_path / 'store'}"


@pytest.fixture
def job(config, silent):
    return Checker(silent).jobs([config])[0]


class Lost(BaseException):
    """The worker is gone."""


def lose_after(checkpoint, store):
    """A listener that mirrors a run, then ends it after so many checkpoints."""
    seen = []

    def listen(folder, event):
        store.mirror(folder, event)
        seen.append(event["event"])
        if seen.count("checkpoint") == checkpoint:
            raise Lost

    return listen


def test_a_run_lost_anywhere_goes_on_from_the_store_to_the_same_result(job, url, tmp_path, done):
    store = Store(url)
    for checkpoint in (1, 1):  # lost twice, one task further each time
        scratch = tmp_path / f"scratch-{store.tasks_done(job)}"
        scratch.mkdir()
        store.fetch(job, scratch, checkpoints=True)
        with pytest.raises(Lost):
            compute(job.config.record(), scratch, [lose_after(checkpoint, store)])
    assert store.tasks_done(job) == 2
    assert compute_remotely(job.config.record(), "/nowhere", url) is None
    store.fetch_finished(job, tmp_path / "out")
    fetched = job.folder(tmp_path / "out")
    without_cost = [
        {key: value for key, value in folder.result().items() if key != "cost"} for folder in (fetched, done)
    ]
    assert without_cost[0] == without_cost[1]
    assert not list(fetched.path.glob("checkpoint/*"))  # results come back, checkpoints stay
    assert [event["event"] for event in fetched.events()].count("resumed") == 2


def test_only_checkpoints_that_the_run_keeps_are_kept(job, url, tmp_path):
    assert compute_remotely(job.config.record(), "/nowhere", url) is None
    (folder,) = (tmp_path / "store").iterdir()
    assert sorted(path.name for path in (folder / "checkpoint").iterdir()) == [
        "task-002.safetensors",
        "task-003.safetensors",
    ]
    assert not [path for path in folder.rglob("*") if path.name.endswith(".part") or path.name == "lock"]


def test_what_is_not_finished_is_not_fetched_as_a_result(job, url, tmp_path):
    store = Store(url)
    store.fetch_finished(job, tmp_path / "out")
    with pytest.raises(Lost):
        compute(job.config.record(), tmp_path / "scratch", [lose_after(1, store)])
    store.fetch_finished(job, tmp_path / "out")
    assert job.folder(tmp_path / "out") is None


def test_runs_with_other_settings_are_not_mistaken_for_it(job, url, tmp_path):
    assert compute_remotely(job.config.record(), "/nowhere", url) is None
    store = Store(url)
    name = store.find(job)
    path = tmp_path / "store" / name / "config.json"
    record = json.loads(path.read_text())
    record["method"]["noise"] = 0.7
    path.write_text(json.dumps(record))
    assert store.find(job) is None
    path.write_text("{")
    assert store.find(job) is None
    assert RunFolder(path.parent).finished


def test_a_url_that_nothing_knows_is_refused():
    with pytest.raises(UsageError, match="nonsense"):
        Store("nonsense://somewhere")
