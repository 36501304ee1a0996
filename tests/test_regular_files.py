"""Nothing but a regular file is opened, and no more of it read than was expected."""

import os

import pytest

from merlin_cl.regular_files import open_regular, read_regular


def test_a_file_is_read_whole_up_to_what_was_expected(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, most=5) == b"12345"
    with pytest.raises(OSError, match="5 bytes long, where at most 4 were expected"):
        read_regular(path, most=4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "pipe")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError, match=r"not a regular file|directory|Permission denied"):
        open_regular(tmp_path)
