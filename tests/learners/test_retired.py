"""Settings that went away are in one map: whatever was written before is read, or it is said what reads it."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code
from merlin_cl.errors import MerlinError
from merlin_cl.learners.registry import BUILT_IN, method_settings
from merlin_cl.learners.retired import HARMLESS, RETIRED, without_retired
from merlin_cl.learners.setting_values import from_own_record
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.result import check
from merlin_cl.streams.registry import stream_settings

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted((ROOT / "tests" / "runs" / "golden").glob("*/*"))
"""Run folders as old versions wrote them, without checkpoints."""
READ_BY_ITS_VERSION = "split-mnist-merlin-s0-82b20ee7"


def test_every_committed_result_loads_with_its_settings():
    files = [path for path in sorted((ROOT / "results").glob("*/*.json")) if '"result"' in path.read_text("utf-8")]
    assert len(files) > 300
    for path in files:
        result = json.loads(path.read_text("utf-8"))["result"]
        check(result)
        method, stream = dict(result["settings"]["method"]), dict(result["settings"]["stream"])
        name, kind = method.pop("name"), stream.pop("name")
        settings = from_own_record(method_settings(name), without_retired(str(path), name, method), str(path))
        assert settings.method == result["method"]
        from_own_record(stream_settings(stream.pop("kind", kind)), stream, str(path))


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_old_run_folders_are_shown_and_compared(path, capsys):
    for command in ("show", "diagnose"):
        assert exit_code([command, str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: path.name)
def test_old_run_folders_are_configured_again_or_say_what_reads_them(path):
    record = RunFolder(path).config_record()
    if path.name == READ_BY_ITS_VERSION:
        with pytest.raises(MerlinError, match=r"of the merlin of version 0\.1.*merlin-cl 0\.1\.0 reads it"):
            RunConfig.from_record(record)
    else:
        config = RunConfig.from_record(record)
        assert config.record()["stream"] == record["stream"]
        gone = {name for name in record["method"] if name not in config.record()["method"]}
        assert gone <= HARMLESS.keys()


def test_what_is_in_the_map_is_gone():
    for method, gone in RETIRED.items():
        assert method in BUILT_IN
        assert not gone.keys() & {field.name for field in fields(method_settings(method))}
