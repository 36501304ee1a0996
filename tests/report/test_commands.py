"""`merlin report` and `merlin watch` on the command line."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from merlin_cl.cli import exit_code
from patience import PATIENCE

from .made import make_run


@pytest.fixture
def merlin(capsys, tmp_path, monkeypatch):
    """Call the command in an empty folder: gives (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        code = exit_code([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


def test_the_page_is_written_and_its_place_is_printed(merlin, runs, tmp_path):
    code, out, err = merlin("report")  # runs/ is where one is
    assert (code, out) == (0, "report.html\n")
    assert "7 runs" in err
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_title_and_place_can_be_chosen(merlin, runs, tmp_path):
    code, out, _ = merlin("report", *sorted(runs.iterdir())[:2], "--out", "page.html", "--title", "Two & more")
    assert (code, out) == (0, "page.html\n")
    assert '<h1 id="heading">Two &amp; more: ' in (tmp_path / "page.html").read_text()


def test_runs_that_are_left_out_are_named(merlin, runs):
    late = make_run(runs, seed=9, done=1)
    code, _, err = merlin("report")
    assert code == 0
    assert f"Left out: runs/{late.name} is not finished" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "nowhere"], "nowhere is not there"),
        (["report", "runs", "--out", "no/such/folder.html"], "no/such is not a folder"),
        (["report", "runs", "--titel", "x"], "did you mean '--title'"),
        (["watch", "runs", "--port", "70000"], "--port"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(merlin, runs, arguments, said):
    code, out, err = merlin(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_folder_without_a_finished_run_is_refused(merlin, tmp_path):
    make_run(tmp_path / "runs", done=1)
    code, _, err = merlin("report")
    assert code == 2
    assert "no finished run" in err


def test_neither_command_waits_for_torch(tmp_path):
    make_run(tmp_path / "runs")
    script = (
        "import sys; from merlin_cl.cli import exit_code; code = exit_code(['report']); "
        "import merlin_cl.report.watch_server; sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True).returncode == 0


def test_watch_prints_its_address_and_ends_with_ctrl_c(runs):
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # as in a shell of one's own
    script = f"{listening}; from merlin_cl.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "watch", str(runs), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            assert b"merlin-cl live" in answer.read()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "runs go on" in said
