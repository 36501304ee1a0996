"""Every file made to do harm is refused in one sentence, in little memory, with nothing run and nothing written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.errors import InputError, MerlinError
from merlin_cl.streams.catalogue.archives import ArchiveLimits
from merlin_cl.streams.catalogue.unpack import unpack
from merlin_cl.streams.datasets.idx import read_idx
from merlin_cl.streams.datasets.matlab import read_matlab
from merlin_cl.streams.datasets.pickled import read_pickle


@pytest.fixture(scope="module")
def attempts():
    """All of them tried in one process of their own, whose memory is limited."""
    paths = [str(Path(__file__).parents[1]), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-m", "streams.malicious"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("kind", "least"), [("pickle", 45), ("archive", 30)])
def test_all_are_refused(attempts, kind, least):
    tried = [attempt for attempt in attempts if attempt["kind"] == kind]
    assert len(tried) >= least
    assert {attempt["name"]: attempt["failure"] for attempt in tried if attempt["failure"]} == {}


READERS = {
    "pickle": lambda file: read_pickle(file),
    "idx": lambda file: read_idx(file, 3),
    "matlab": lambda file: read_matlab(file),
    "archive": lambda file: unpack(file, file.parent / "out", ArchiveLimits(10, 1000)),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", ["pipe", "endless", "folder", "missing"])
def test_what_is_no_regular_file_is_neither_waited_for_nor_read(tmp_path, reader, what):
    file = tmp_path / "file"
    if what == "pipe":
        os.mkfifo(file)
    elif what == "endless":
        file.symlink_to("/dev/zero")
    elif what == "folder":
        file.mkdir()
    with pytest.raises((MerlinError, InputError), match=r"file cannot be read \(.*\); check"):
        READERS[reader](file)
