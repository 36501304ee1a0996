"""Fetch a file so that under its final name it is whole and right, or not there at all.

Content goes to a file named *.part. A fetch that is cut off goes on from there, now or next time, if the server can do so and a
checksum is known by which the whole is judged. Only what has the right length and checksum is renamed. Mirrors are tried in turn.
"""

import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from merlin_cl.errors import MerlinError
from merlin_cl.streams.catalogue.checksum import digest
from merlin_cl.streams.catalogue.entry import Download

if sys.platform != "win32":
    import fcntl

Told = Callable[[int, int], None]
"""Told how many bytes there are, and how many there will be."""

BLOCK = 1 << 18
ATTEMPTS = 5
"""How often a mirror that breaks off is tried."""


class FetchError(MerlinError):
    """A file could not be had from any of its mirrors."""


class _BrokenOffError(Exception):
    """The mirror failed half-way; trying it again may help."""


class _RefusedError(Exception):
    """The mirror does not have the file; trying it again will not help."""


def fetch(download: Download, target: Path, told: Told, timeout: float = 30.0, pause: float = 1.0) -> None:
    """Fetch a file to `target`. `timeout` is how long a mirror may stay silent, `pause` the wait before another attempt."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    reasons = []
    with _alone(part) as content:
        for url in download.urls:
            if download.checksum is None:
                content.truncate(0)  # nothing would tell whether two pieces belong together
            reason = _from_mirror(url, download, content, told, timeout, pause)
            if reason is None:
                if sys.platform == "win32":
                    content.close()  # there an open file cannot be renamed
                os.replace(part, target)
                return
            reasons.append(f"{url} {reason}")
        kept = os.fstat(content.fileno()).st_size if download.checksum else 0
    if not kept:
        part.unlink()
    more = f" {kept:,} bytes are kept in {part}; the next try goes on from there." if kept else ""
    raise FetchError(f"{target.name} could not be fetched: {'; '.join(reasons)}.{more}")


def _from_mirror(
    url: str, download: Download, content: IO[bytes], told: Told, timeout: float, pause: float
) -> str | None:
    """Fetch from one mirror into `content`: None where that went well, otherwise why not."""
    reason = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause)
        resumed = content.seek(0, os.SEEK_END) > 0
        try:
            _transfer(url, download, content, told, timeout)
        except _RefusedError as error:
            return str(error)
        except _BrokenOffError as error:
            reason = str(error)
            continue
        reason = _wrong(download, content)
        if reason is None:
            return None
        content.truncate(0)
        if not resumed:  # all of it came from here, and would come again
            return reason
    return reason


def _transfer(url: str, download: Download, content: IO[bytes], told: Told, timeout: float) -> None:
    """Receive what is missing in `content`, up to the announced end."""
    there = content.seek(0, os.SEEK_END)
    try:
        with _answer(url, there, timeout) as answer:
            if there and not answer.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
                there = 0  # the mirror cannot go on from a place, or goes on from another one
                content.truncate(0)
            announced = answer.headers.get("Content-Length", "")
            total = there + int(announced) if announced.isdigit() else None
            for block in _blocks(answer):
                there += content.write(block)
                told(there, total or max(there, download.size))
    except _NothingMissingError:
        return
    finally:
        content.flush()
        os.fsync(content.fileno())
    if total is not None and there != total:
        raise _BrokenOffError(f"broke off after {there:,} of {total:,} bytes")


class _NothingMissingError(Exception):
    """The mirror says that the file ends where we want to go on. The checksum will tell whether it does."""


def _answer(url: str, there: int, timeout: float) -> http.client.HTTPResponse:
    headers = {"User-Agent": "merlin-cl", "Accept-Encoding": "identity"} | (
        {"Range": f"bytes={there}-"} if there else {}
    )
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=timeout
        )
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and there:
            raise _NothingMissingError from None
        kind = _BrokenOffError if error.code >= 500 else _RefusedError
        raise kind(f"answered {error.code} ({error.reason})") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _RefusedError(f"cannot be reached ({_reason(error)})") from None
    return answer


def _blocks(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            block = answer.read1(BLOCK)  # what has arrived, so that a server that falls silent loses us nothing
        except (OSError, http.client.HTTPException) as error:
            raise _BrokenOffError(f"broke off ({_reason(error)})") from None
        if not block:
            return
        yield block


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__


def _wrong(download: Download, content: IO[bytes]) -> str | None:
    """What is wrong with the content, None if nothing is."""
    if not os.fstat(content.fileno()).st_size:
        return "sent nothing"
    if download.checksum is None:
        return None
    found = digest(Path(content.name), download.checksum.partition(":")[0])
    return None if found == download.checksum else f"sent something else ({found} instead of {download.checksum})"


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
