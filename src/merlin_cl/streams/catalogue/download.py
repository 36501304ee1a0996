"""Fetch a file so that under its final name it is whole and right, or not there at all.

Content goes to a file named *.part. A fetch that is cut off goes on from there, now or next time, if the server can do so and a
checksum is known by which the whole is judged. Only what has the declared length and checksum is renamed, and never is more
written than was declared. Mirrors are tried in turn; one that is too slow is given up.
"""

import http.client
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from merlin_cl.errors import MerlinError
from merlin_cl.streams.catalogue.checksum import digest
from merlin_cl.streams.catalogue.connection import (
    BrokenOffError,
    NothingMissingError,
    Patience,
    RefusedError,
    answer,
    reason,
)
from merlin_cl.streams.catalogue.entry import Download

if sys.platform != "win32":
    import fcntl

ProgressCallback = Callable[[int, int], None]
"""Told how many bytes there are, and how many there will be."""

BLOCK = 1 << 18
PATIENCE = Patience()


class FetchError(MerlinError):
    """A file could not be had from any of its mirrors."""


def fetch(download: Download, target: Path, told: ProgressCallback, patience: Patience = PATIENCE) -> None:
    """Fetch a file to `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        _fetch(download, target, part, told, patience)
    except OSError as error:  # a disk that takes no more is not to be kept full
        with suppress(OSError):
            part.unlink(missing_ok=True)
        why = error.strerror or type(error).__name__
        raise FetchError(
            f"{target.name} could not be written ({why} at {part}), and nothing of it was kept; "
            f"mend that, with room for {download.size:,} bytes, and fetch it again."
        ) from error


def _fetch(download: Download, target: Path, part: Path, told: ProgressCallback, patience: Patience) -> None:
    """The same, by way of `part`."""
    reasons = []
    with _alone(part) as content:
        for url in download.urls:
            if download.checksum is None:
                content.truncate(0)  # nothing would tell whether two pieces belong together
            why = _from_mirror(url, download, content, told, patience)
            if why is None:
                if sys.platform == "win32":
                    content.close()  # there an open file cannot be renamed
                os.replace(part, target)
                return
            reasons.append(f"{url} {why}")
        kept = os.fstat(content.fileno()).st_size if download.checksum else 0
    if not kept:
        part.unlink()
    more = f" {kept:,} bytes are kept in {part}; the next try goes on from there." if kept else ""
    raise FetchError(f"{target.name} could not be fetched: {'; '.join(reasons)}.{more}")


def _from_mirror(
    url: str, download: Download, content: IO[bytes], told: ProgressCallback, patience: Patience
) -> str | None:
    """Fetch from one mirror into `content`: None where that went well, otherwise why not."""
    why = None
    pace = _Pace(patience)
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.pause)
        resumed = _length(content) > 0
        try:
            _transfer(url, download, content, told, pace)
        except RefusedError as error:
            return str(error)
        except BrokenOffError as error:
            why = str(error)
            continue
        why = _wrong(download, content)
        if why is None:
            return None
        content.truncate(0)
        if not resumed:  # all of it came from here, and would come again
            return why
    return why


def _transfer(url: str, download: Download, content: IO[bytes], told: ProgressCallback, pace: "_Pace") -> None:
    """Receive what is missing in `content`, up to the declared end."""
    there = _length(content)
    if there > download.size:
        content.truncate(0)
        there = 0
    if download.exact and there == download.size:
        return  # all there; the checksum tells whether it is right
    try:
        with answer(url, there, pace.patience) as said:
            if there and not said.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
                there = 0  # the mirror cannot go on from a place, or goes on from another one
                content.truncate(0)
            total = _announced(said, there, download)
            pace.begin(there)
            for block in _blocks(said, download.size - there + 1):
                if there + len(block) > download.size:
                    content.truncate(0)
                    raise RefusedError(f"sends more than the {download.size:,} bytes that were declared")
                there += content.write(block)
                told(there, total or download.size)
                pace.keep(there)
    except NothingMissingError:
        return
    finally:
        content.flush()
        os.fsync(content.fileno())
    if total is not None and there != total:
        raise BrokenOffError(f"broke off after {there:,} of {total:,} bytes")


def _announced(said: http.client.HTTPResponse, there: int, download: Download) -> int | None:
    """How many bytes there will be in all; None where neither the mirror nor the catalogue knows."""
    text = said.headers.get("Content-Length", "")
    announced = there + int(text) if text.isdecimal() and len(text) < 20 else None
    if announced is None:
        return download.size if download.exact else None
    if announced > download.size or (download.exact and announced != download.size):
        most = "" if download.exact else "at most "
        raise RefusedError(f"offers {announced:,} bytes instead of {most}{download.size:,}")
    return announced


class _Pace:
    """How fast a mirror sends, and how long it has taken."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self._begun = self._since = patience.clock()
        self._from = 0

    def begin(self, there: int) -> None:
        """Measure from here, where so many bytes are there."""
        self._since, self._from = self.patience.clock(), there

    def keep(self, there: int) -> None:
        """Give a mirror up that sends too slowly or has taken too long."""
        patience, now = self.patience, self.patience.clock()
        if now - self._begun > patience.limit:
            raise RefusedError(f"took longer than {patience.limit:,.0f} seconds")
        if now - self._since >= patience.window:
            if there - self._from < patience.floor * (now - self._since):
                raise BrokenOffError(f"sends fewer than {patience.floor:,.0f} bytes a second")
            self._since, self._from = now, there


def _blocks(said: http.client.HTTPResponse, most: int) -> Iterator[bytes]:
    """What arrives, no more than `most` bytes of it."""
    while most > 0:
        try:
            block = said.read1(min(BLOCK, most))  # what has arrived: a server that falls silent loses us nothing
        except (OSError, http.client.HTTPException) as error:
            raise BrokenOffError(f"broke off ({reason(error)})") from None
        if not block:
            return
        most -= len(block)
        yield block


def _wrong(download: Download, content: IO[bytes]) -> str | None:
    """What is wrong with the content, None if nothing is."""
    size = os.fstat(content.fileno()).st_size
    if not size:
        return "sent nothing"
    if download.exact and size != download.size:
        return f"sent {size:,} bytes instead of {download.size:,}"
    if download.checksum is None:
        return None
    checksum = digest(Path(content.name), download.checksum.partition(":")[0])
    return None if checksum == download.checksum else f"sent something else ({checksum} instead of {download.checksum})"


def _length(content: IO[bytes]) -> int:
    return content.seek(0, os.SEEK_END)


@contextmanager
def _alone(part: Path) -> Iterator[IO[bytes]]:
    """The file to write to, kept from other processes that fetch the same; the lock goes with the process."""
    with part.open("ab+") as content:
        if sys.platform != "win32":
            try:
                fcntl.flock(content.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FetchError(f"Another process is fetching {part}; wait until it is done.") from None
        yield content
