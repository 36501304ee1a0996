"""Every code block of docs/own-data.md runs, one after the other, in an empty folder; so does the example."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.cli import exit_code

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / "own-data.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    assert {kind for kind, _ in BLOCKS} == {"python", "sh"}
    for kind, code in BLOCKS:
        if kind == "python":
            exec(compile(code, "docs/own-data.md", "exec"), known)
            continue
        for line in code.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "merlin"
            assert exit_code(arguments) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert "my-images" in said
    assert "trees" in said
    assert len(known["answers"]) == known["stream"][0].test_count


@pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="the examples are not part of what was installed")
def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "own_data.py")],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    single, merlin = (float(line.split()[1]) for line in done.stdout.splitlines())
    assert merlin > single + 10
