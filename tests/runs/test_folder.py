import os
import subprocess
import sys

import pytest

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs.config import FORMAT
from merlin_cl.runs.folder import RunFolder, run_folders, write_json


@pytest.fixture
def folder(tmp_path, config):
    made = RunFolder(tmp_path / config.name)
    made.make()
    made.claim(config)
    return made


def test_settings_come_back_from_the_folder(folder, config):
    assert folder.config() == config
    assert RunFolder.open(folder.path).config().method.shape == (3, 4)  # a tuple again, not a list


def test_leftovers_of_a_crash_are_not_taken_for_files(folder):
    (folder.checkpoints / ".task-001.safetensors.part").write_bytes(b"half")
    (folder.path / ".result.json.part").write_bytes(b"half")
    assert not folder.finished
    assert not list(folder.checkpoints.glob("task-*"))
    with folder.locked():
        assert not list(folder.path.rglob(".*.part"))


def test_events_survive_a_torn_line(folder):
    folder.log("one", value=1)
    with (folder.path / "events.jsonl").open("ab") as file:
        file.write(b'{"event": "to')  # killed here
    assert [event["event"] for event in folder.events()] == ["one"]
    folder.log("two")
    folder.log("three")
    assert [event["event"] for event in folder.events()] == ["one", "two", "three"]


def test_a_second_process_is_refused_and_the_lock_goes_with_the_first(folder):
    program = (
        "import sys, signal; from pathlib import Path; from merlin_cl.runs.folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).locked(): print('held', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", program, folder.path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert folder.busy
        with pytest.raises(MerlinError, match="Another process"), folder.locked():
            pass
        other.kill()
    assert not folder.busy
    with folder.locked():
        pass


def test_a_folder_with_other_settings_is_refused(folder, config):
    record = config.record() | {"batch_size": 3}
    write_json(folder.path / "config.json", record)
    with pytest.raises(UsageError, match="other settings"):
        folder.claim(config)


def test_a_newer_format_is_refused(folder, config):
    write_json(folder.path / "config.json", config.record() | {"format": FORMAT + 1})
    with pytest.raises(MerlinError, match=r"newer merlin-cl.*upgrade"):
        folder.config()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": 1}'])
def test_a_damaged_configuration_is_named(folder, content):
    (folder.path / "config.json").write_text(content)
    with pytest.raises(MerlinError, match=r"config\.json"):
        folder.config()


def test_what_is_not_a_run_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a run folder"):
        RunFolder.open(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        RunFolder.open(tmp_path / "nowhere")


def test_an_unwritable_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(MerlinError, match=r"Cannot write.*--out"):
        RunFolder(tmp_path / "file" / "run").make()
    if os.getuid():  # root may write anywhere
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(MerlinError, match=r"Cannot write.*--out"):
            RunFolder(tmp_path / "closed" / "run").make()


def test_runs_are_listed_by_name(folder, tmp_path):
    (tmp_path / "something else").mkdir()
    assert [run.path for run in run_folders(tmp_path)] == [folder.path]
    assert run_folders(tmp_path / "nowhere") == []
