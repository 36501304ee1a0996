import io
import json
import os
import resource
import signal
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from merlin_cl import metrics
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs import run as run_module
from merlin_cl.runs.checkpoint import Checkpoints
from merlin_cl.runs.folder import RunFolder, write_json
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.runs.run import RunStoppedError, resume, run
from merlin_cl.streams.settings import PermutedMnistSettings
from streams.official import write_mnist

from . import fakes


def without_cost(result):
    return {key: value for key, value in result.items() if key != "cost"}


def test_same_settings_and_seed_give_the_same_result(config, done, tmp_path, silent):
    again = run(config, tmp_path / "again", silent)
    assert again.path.name == done.path.name
    assert without_cost(again.result()) == without_cost(done.result())
    other = run(replace(config, seed=1), tmp_path, silent)
    assert other.result()["scores"] != done.result()["scores"]


def test_the_result_says_what_it_is(done):
    result = done.result()
    assert [(score["view"], score["inference"]) for score in result["scores"]] == [
        ("class-incremental", "aggregate"),
        ("task-masked", "aggregate"),
        ("task-masked", "aware"),
    ]
    for score in result["scores"]:
        assert len(score["matrix"]) == 3
        assert score["matrix"][0][1:] == [None, None]
        for name, metric in metrics.METRICS.items():
            assert score[name] == metric(score["matrix"])
    assert (result["exemplars"], result["updates_per_batch"], result["batch_size"], result["seed"]) == (7, 1, 10, 0)
    assert "embedded" in result["source"]
    assert result["settings"]["stream"]["images_per_task"] == 60
    assert result["cost"]["stored_bytes"] == {"means": 31400}
    assert result["parameters"] == {"means": 7840}
    assert {"base", "evaluate", "probe"} <= set(result["cost"]["cpu_seconds"])
    assert result["cost"]["peak_rss_bytes"] > 10**7
    assert result["cost"]["held_bytes"] >= 31400


def test_the_result_says_what_probabilities_were_worth(done):
    for score in done.result()["scores"]:
        uncertainty = score["uncertainty"]
        assert {name: len(uncertainty[name]) for name in ("nll", "brier", "ece")} == {"nll": 3, "brier": 3, "ece": 3}
        assert sum(count for count, _, _ in uncertainty["reliability"]) == sum(
            count for count, _, _ in done.result()["scores"][0]["uncertainty"]["reliability"]
        )
        assert len(uncertainty["risks"]) == 10
        assert "other" not in uncertainty  # the package brings no inputs of another kind along
    events = [event for event in done.events() if event["event"] == "calibration"]
    assert [event["nll"] for event in events[::3]] == done.result()["scores"][0]["uncertainty"]["nll"]


def test_inputs_of_another_kind_are_asked_about_where_there_are_some(config, tmp_path, silent):
    write_mnist(tmp_path / "data/MNIST/raw", train=600)
    write_mnist(tmp_path / "data/FashionMNIST/raw", train=100, test=100)
    result = run(replace(config, data=str(tmp_path / "data")), tmp_path / "runs", silent)
    others = [score["uncertainty"].get("other") for score in result.result()["scores"]]
    assert [other and set(other) for other in others] == [{"fashion-mnist"}, None, {"fashion-mnist"}]
    assert 0 <= others[0]["fashion-mnist"]["total"] <= 100
    events = [event for event in result.events() if event["event"] == "other_kinds"]
    assert [event["auroc"] for event in events] == [others[0], others[2]]


def test_a_run_that_was_begun_before_calibration_was_measured_can_be_resumed(config, done, tmp_path, silent):
    def forget():
        (done.path / "result.json").unlink()
        kept = Checkpoints(done.checkpoints, done.config().digest)
        state = kept.latest().state
        del state["ledger"]["calibration"]
        kept.save(len(state["ledger"]["rows"]), state)

    before = done.result()
    (done.checkpoints / "task-003.safetensors").unlink()
    forget()
    assert run(config, tmp_path, silent).path == done.path
    for score, known in zip(done.result()["scores"], before["scores"], strict=True):
        assert score["matrix"] == known["matrix"]
        assert score["uncertainty"]["nll"] == [None, None, known["uncertainty"]["nll"][2]]
        assert score["uncertainty"]["risks"] == known["uncertainty"]["risks"]
    forget()  # of the last task: only the result was missing
    assert [score["uncertainty"] for score in run(config, tmp_path, silent).result()["scores"]] == [None] * 3


def test_masking_to_the_task_can_only_help(done):
    free, masked, _ = (score["matrix"] for score in done.result()["scores"])
    assert all(
        m >= f
        for row, other in zip(masked, free, strict=True)
        for m, f in zip(row, other, strict=True)
        if f is not None
    )


def test_domain_incremental_streams_have_one_view(config, tmp_path, silent):
    permuted = PermutedMnistSettings(tasks=2, images_per_task=60)
    result = run(replace(config, stream=permuted), tmp_path, silent).result()
    assert [(score["view"], score["inference"]) for score in result["scores"]] == [
        ("domain-incremental", "aggregate"),
        ("domain-incremental", "aware"),
    ]


def test_one_inference_mode_can_be_asked_for(config, tmp_path, silent):
    result = run(replace(config, inference="aware"), tmp_path, silent).result()
    assert [score["inference"] for score in result["scores"]] == ["aware"]
    with pytest.raises(UsageError, match="no inference mode 'marginal'; choose from: all, aggregate, aware"):
        run(replace(config, inference="marginal"), tmp_path, silent)


def test_probes_are_kept(done):
    diagnosis = done.result()["diagnosis"]
    assert [set(values) for values in diagnosis["learned"]] == [{"spread", "images", "observed"}] * 3
    assert diagnosis["learned"][2] == diagnosis["final"][2]
    assert diagnosis["learned"][0] != diagnosis["final"][0]
    probes = [event for event in done.events() if event["event"] == "probe"]
    assert [(event["task"], event["after_task"]) for event in probes] == [
        (0, 0),
        (1, 1),
        (2, 2),
        (0, 2),
        (1, 2),
    ]


def test_methods_without_probes_have_none(config, tmp_path, silent):
    result = run(replace(config, method=fakes.QuietSettings()), tmp_path, silent).result()
    assert result["diagnosis"] == {"learned": [None] * 3, "final": [None] * 3}
    assert {score["inference"] for score in result["scores"]} == {None}


def test_a_finished_run_is_not_computed_again_unless_asked(config, done, tmp_path, silent, monkeypatch):
    write_json(done.path / "result.json", done.result() | {"preset": "untouched"})
    assert run(config, tmp_path, silent).result()["preset"] == "untouched"
    assert resume(done, silent).result()["preset"] == "untouched"
    assert run(config, tmp_path, silent, restart=True).result()["preset"] == "default"
    assert [event["event"] for event in done.events()].count("started") == 1


@pytest.mark.parametrize("moment", ["learn_task", "evaluate", "_probe"])
@pytest.mark.parametrize("task", [0, 2])
def test_stopped_then_resumed_equals_uninterrupted(config, done, tmp_path, silent, monkeypatch, moment, task):
    whole, calls = getattr(run_module, moment), []

    def stopping(*arguments):
        calls.append(arguments)
        if len(calls) == task + 1:
            raise KeyboardInterrupt
        return whole(*arguments)

    root = tmp_path / "stopped"
    monkeypatch.setattr(run_module, moment, stopping)
    with pytest.raises(RunStoppedError, match="merlin resume"):
        run(config, root, silent)
    monkeypatch.setattr(run_module, moment, whole)
    torch.manual_seed(99)  # a new process has other random numbers at hand
    (left,) = root.iterdir()
    resumed = resume(RunFolder.open(left), silent)
    assert without_cost(resumed.result()) == without_cost(done.result())


def test_crash_between_the_last_checkpoint_and_the_result(config, done, tmp_path, silent):
    before = done.result()
    (done.path / "result.json").unlink()
    (done.path / ".result.json.part").write_text("{")
    assert without_cost(run(config, tmp_path, silent).result()) == without_cost(before)
    # All tasks came from the checkpoint, their CPU time with them.
    assert done.result()["cost"]["cpu_seconds"]["evaluate"] == before["cost"]["cpu_seconds"]["evaluate"]
    assert [event["event"] for event in done.events() if event["event"] in ("started", "resumed")] == [
        "started",
        "resumed",
    ]


@pytest.mark.parametrize("damaged", [1, 2])
def test_a_damaged_checkpoint_is_passed_over_and_it_is_said(config, done, tmp_path, silent, damaged):
    before = done.result()
    (done.path / "result.json").unlink()
    names = sorted(path.name for path in done.checkpoints.iterdir())
    for name in names[-damaged:]:
        (done.checkpoints / name).write_bytes((done.checkpoints / name).read_bytes()[:-7])
    assert without_cost(run(config, tmp_path, silent).result()) == without_cost(before)
    start = names[0] if damaged == 1 else "the start"
    assert f"{names[-1]} is damaged" in silent.stream.getvalue()
    assert f"going on from {start}." in silent.stream.getvalue()
    noted = [event for event in done.events() if event["event"] == "damaged"]
    assert [(event["file"], event["going_on_from"]) for event in noted] == [
        (name, start) for name in reversed(names[-damaged:])
    ]
    assert sorted(path.name for path in done.checkpoints.glob("task-*.safetensors")) == names


@pytest.mark.parametrize("part", ["learner", "ledger"])
def test_a_whole_checkpoint_of_another_version_is_refused_in_a_sentence(config, done, tmp_path, silent, part):
    (done.path / "result.json").unlink()
    checkpoints = Checkpoints(done.checkpoints, done.config().digest)
    state = checkpoints.latest().state
    checkpoints.save(3, {**state, part: {"of": "another version"}})
    with pytest.raises(MerlinError, match=r"is whole, but not one that this version .* --restart\.$"):
        run(config, tmp_path, silent)


@contextmanager
def files_of_at_most(size):
    """A real disk that takes no more: what is written is cut off, and an error says so."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_named_with_what_to_do_and_nothing_is_lost(config, done, tmp_path, silent):
    heavy, root = replace(config, method=fakes.MeansSettings(ballast=2)), tmp_path / "full"
    with (
        files_of_at_most(2**20),
        pytest.raises(MerlinError, match=r"File too large at .*task-001\.safetensors") as caught,
    ):
        run(heavy, root, silent)
    (left,) = root.iterdir()
    assert f"every task that was done is kept: mend that, and `merlin resume {left}` goes on" in str(caught.value)
    assert not list(left.rglob(".*.part"))
    assert RunFolder(left).events()[-1]["event"] == "failed"
    resumed = resume(RunFolder.open(left), silent)
    assert resumed.result()["scores"] == done.result()["scores"]


def test_a_disk_too_full_even_for_the_log_is_named(config, tmp_path, silent, monkeypatch):
    def full(*_, **values):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_module, "learn_task", lambda *_: monkeypatch.setattr(RunFolder, "log", full) or full())
    with pytest.raises(MerlinError, match=r"No space left on device at .*merlin resume"):
        run(config, tmp_path, silent)


@pytest.mark.usefixtures("nobody_handles_sigterm")
def test_sigterm_ends_a_run_as_ctrl_c_does(config, tmp_path, silent, monkeypatch):
    monkeypatch.setattr(run_module, "learn_task", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(RunStoppedError, match="merlin resume") as caught:
        run(config, tmp_path, silent)
    assert caught.value.exit_code == 143
    (left,) = tmp_path.iterdir()
    assert RunFolder(left).events()[-1]["event"] == "stopped"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_other_data_are_another_run_and_are_refused_on_resume(config, done, silent):
    (done.path / "result.json").unlink()
    record = json.loads((done.path / "config.json").read_text())
    for change in ({"source": "elsewhere"}, {"fingerprint": "elsewhere"}):
        write_json(done.path / "config.json", record | change)
        with pytest.raises(MerlinError, match=r"begun with other data \(.*elsewhere"):
            resume(done, silent)


def test_data_may_be_moved(config, done, silent, tmp_path):
    before = done.result()
    here, there = write_mnist(tmp_path / "here", train=600), tmp_path / "there"
    elsewhere = replace(config, data=str(here))
    first = run(elsewhere, tmp_path, silent)
    assert first.path != done.path
    assert first.result()["scores"] != before["scores"]
    (first.path / "result.json").unlink()
    here.rename(there)
    with pytest.raises(MerlinError, match=r"is not there; say where it is now: `merlin resume .* --data PATH`"):
        resume(first, silent)
    resume(first, silent, str(there))
    assert run(replace(config, data=str(there)), tmp_path, silent).path == first.path
    write_mnist(there, train=600, test=60)
    (first.path / "result.json").unlink()
    with pytest.raises(MerlinError, match="begun with other data"):
        resume(first, silent, str(there))


@pytest.mark.parametrize("device", ["cuda", "cuda:7", "gpu", "meta"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(config, tmp_path, silent, device):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(UsageError, match="not available here; use one of: cpu"):
        run(replace(config, device=device), tmp_path, silent)
    assert not list(tmp_path.iterdir())


def test_threads_are_set_for_the_run_only(config, tmp_path, silent, monkeypatch):
    before, during = torch.get_num_threads(), []
    monkeypatch.setattr(run_module, "learn_task", lambda *_: during.append(torch.get_num_threads()) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(replace(config, threads=2), tmp_path, silent)
    assert during == [2]
    assert torch.get_num_threads() == before


def test_a_changed_environment_is_told(config, done, tmp_path):
    environment = done.environment()
    environment["versions"]["torch"] = "1.0"
    done.write_environment(environment)
    said = io.StringIO()
    run(config, tmp_path, PlainDisplay(said))
    assert "torch 1.0 became" in said.getvalue()
    (done.path / "result.json").unlink()
    run(config, tmp_path, PlainDisplay(said))
    (resumed,) = [event for event in done.events() if event["event"] == "resumed"]
    assert "torch 1.0 became" in resumed["environment_changes"][0]
