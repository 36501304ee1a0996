"""Bad input: one sentence on standard error that says what to do, exit code 2 for usage and 1 for failure."""

import json
from pathlib import Path

import pytest

from merlin_cl.runs import run as run_module

USAGE = [
    (["rum"], "did you mean 'run'?"),
    (["--seed", "3"], "comes after a command"),
    (["run", "split-mnits"], "did you mean 'split-mnist'?"),
    (["run", "--method", "merlim"], "did you mean 'merlin'?"),
    (["run", "--method=merlim"], "did you mean 'merlin'?"),
    (["run", "--method", "means", "--preset", "defualt"], "did you mean 'default'?"),
    (["run", "--method", "means", "--exmplars", "3"], "did you mean '--exemplars'?"),
    (["run", "--method", "means", "split-mnist2"], "the stream comes first"),
    (["run", "split-mnist", "twice", "--method", "means"], "'twice' is out of place"),
    (["run", "--method", "means", "--seed", "x"], "'x' is not a whole number"),
    (["run", "--method", "means", "--noise", "x"], "'x' is not a number"),
    (["run", "--method", "means", "--seed", "-1"], "seed is -1"),
    (["run", "--method", "means", "--threads", "0"], "threads is 0"),
    (["run", "--method", "means", "--threads", "100000000"], "threads is 100000000; it must be at most 1024"),
    (["demo", "--threads", "100000000"], "at most 1024"),
    (["run", "--method", "means", "--seed", "1" + "0" * 30], "it must be at most 9223372036854775807"),
    (["run", "--method", "means", "--batch-size", "1" + "0" * 30], "batch_size is 1"),
    (["run", "--method", "means", "--batch-size", "0"], "batch_size is 0"),
    (["run", "--method", "means", "--exemplars", "0"], "exemplars is 0; it must be at least 1"),
    (["run", "--method", "means", "--tasks", "9"], "at most 5 tasks"),
    (["run", "--method", "means", "--evaluation", "train"], "choose from 'test', 'held-out'"),
    (["run", "--method", "means", "--inference", "agregate"], "did you mean 'aggregate'?"),
    (["run", "--method", "means", "--inference", "marginal"], "choose from: all, aggregate, aware"),
    (["run", "--method", "means", "--device", "gpu"], "use one of: cpu"),
    (["run", "--method", "means", "--images-per-task", "9000"], "lower it"),
    (["resume"], "DIR is missing"),
    (["resume", "."], "not a run folder"),
    (["resume", "nowhere"], "is not a folder"),
    (["show", "."], "holds none"),
    (["show", "nowhere"], "is not a folder"),
    (["diagnose", "nowhere"], "is not a folder"),
    (["list", "a", "b"], "'b' is one argument too many"),
    # a path that is not there is exit 2 everywhere
    (["run", "nowhere.csv"], "nowhere.csv is not there"),
    (["run", "./nowhere"], "nowhere is neither a file nor a folder"),
    (["run", "split-mnist", "--method", "means", "--data", "nowhere"], "nowhere is not a folder"),
    (["run", "--descriptor", "words", "--words", "nowhere.txt"], "nowhere.txt"),
    (["resume", "nowhere", "--data", "nowhere"], "is not a folder"),
    (["grid", "nowhere.toml"], "nowhere.toml cannot be read"),
    (["list", "nowhere"], "nowhere is not a folder"),
    (["report", "nowhere"], "nowhere is not there"),
    (["report", ".", "--out", "nowhere/page.html"], "nowhere is not a folder"),
    (["watch", "nowhere", "--port", "0"], "nowhere is not a folder"),
    (["predict", "nowhere", "nowhere"], "nowhere is not there"),
    (["tune", "er", "split-mnist", "--data", "nowhere", "--trials", "1"], "nowhere is not a folder"),
    (["reproduce", "main", "--quick", "--streams", "split-mnist", "--data", "nowhere"], "nowhere is not a folder"),
    (["data", "list", "--data", "nowhere"], "nowhere is not a folder"),
    (["data", "verify", "--data", "nowhere"], "nowhere is not a folder"),
    (["data", "verify", "mnist", "--data", "nowhere"], "nowhere is not a folder"),
]


@pytest.mark.parametrize(("arguments", "expected"), USAGE, ids=[" ".join(arguments) for arguments, _ in USAGE])
def test_wrong_usage(merlin, arguments, expected):
    code, out, err = merlin(*arguments)
    assert code == 2
    assert out == ""
    assert expected in err
    assert_one_sentence(err)
    assert not Path("runs").exists()  # nothing was begun


def assert_one_sentence(err):
    last = err.splitlines()[-1]
    assert last.startswith("merlin: ")
    assert last.endswith(".")
    assert "Traceback" not in err


@pytest.fixture
def interrupted(merlin, small):
    """A run with both checkpoints but without its result."""
    assert merlin(*small)[0] == 0
    folder = next(Path("runs").iterdir())
    (folder / "result.json").unlink()
    return folder


def test_a_path_of_a_finished_run_that_is_not_there(merlin, small, interrupted):
    code, _, err = merlin("resume", interrupted, "--data", "nowhere")
    assert code == 2
    assert "nowhere with the data of" in err
    assert_one_sentence(err)
    assert merlin("resume", interrupted)[0] == 0
    code, _, err = merlin("diagnose", interrupted, "--plot", "nowhere/plot.svg")
    assert code == 2
    assert "nowhere is not a folder" in err
    code, _, err = merlin("predict", interrupted, "nowhere.npz")
    assert code == 2
    assert "nowhere.npz is not there" in err


def test_unwritable_folder(merlin, small):
    Path("file").touch()
    code, _, err = merlin(*small, "--out", "file/runs")
    assert code == 1
    assert "Cannot write to" in err
    assert_one_sentence(err)


def test_truncated_checkpoint(merlin, interrupted):
    newest = interrupted / "checkpoint" / "task-002.safetensors"
    newest.write_bytes(newest.read_bytes()[:1000])
    code, _, err = merlin("resume", interrupted)
    assert code == 0  # from the checkpoint before it
    (said,) = [line for line in err.splitlines() if "damaged" in line]
    assert f"{newest} is damaged" in said
    assert said.endswith("going on from task-001.safetensors.")
    assert newest.with_suffix(".damaged").exists()


def test_run_folder_with_other_settings(merlin, small, interrupted):
    config = json.loads((interrupted / "config.json").read_text())
    config["method"]["noise"] = 0.77
    (interrupted / "config.json").write_text(json.dumps(config))
    before = sorted(path.name for path in interrupted.rglob("*"))
    code, _, err = merlin(*small)
    assert code == 2
    assert "other settings" in err
    assert_one_sentence(err)
    code, _, err = merlin("resume", interrupted)  # its checkpoints were made with the settings it had
    assert code == 1
    assert "other settings" in err
    assert set(before) <= {path.name for path in interrupted.rglob("*")}


def test_run_folder_of_a_newer_format(merlin, interrupted):
    config = json.loads((interrupted / "config.json").read_text())
    (interrupted / "config.json").write_text(json.dumps(config | {"format": 99}))
    for command in ("resume", "diagnose", "show"):
        code, _, err = merlin(command, interrupted)
        if command == "resume":
            assert code == 1
            assert "newer merlin-cl" in err
        assert_one_sentence(err)


def test_unexpected_errors_have_no_traceback_unless_asked(merlin, small, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr(run_module, "evaluate", broken)
    code, _, err = merlin(*small)
    assert code == 1
    assert "Unexpected ZeroDivisionError: nobody thought of this; add --debug" in err
    assert_one_sentence(err)
    with pytest.raises(ZeroDivisionError):
        merlin(*small, "--debug")


def test_a_full_disk_is_named(merlin, small, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "runs/x")

    monkeypatch.setattr(run_module.Checkpoints, "save", full)
    code, _, err = merlin(*small)
    assert code == 1
    assert "No space left on device at runs/x" in err
    assert "merlin resume" in err
    assert_one_sentence(err)
