"""Files opened only if they are regular: a pipe would be waited for, a device read for ever."""

import errno
import os
import stat
from pathlib import Path
from typing import IO


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, or raise OSError where it is a folder, a pipe, a socket or a device."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return open(descriptor, "rb")


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file; OSError where it is longer than `most` bytes, before any of it is read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"{size:,} bytes long, where at most {most:,} were expected", str(path))
        return file.read(size)
