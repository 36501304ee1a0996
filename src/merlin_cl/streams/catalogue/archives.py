"""The files in a zip or tar.gz archive, one after another, never more than were declared.

What an archive says of itself is not believed: the members it lists, the bytes that come out of it and the headers it wants to
be kept in memory are counted while it is read. Encryption, and compression other than the usual, are refused in words.
"""

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from merlin_cl.errors import MerlinError
from merlin_cl.regular_files import open_regular

LONGEST_HEADER = 1 << 16
"""Bytes of a header that holds a long name; longer ones are refused, as they are read into memory."""
LISTED = 256
"""Bytes that the list at the end of a zip archive may take for each member."""
METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
"""Kinds of members of a tar archive that say something of the next one."""


@dataclass(frozen=True)
class ArchiveLimits:
    """What may come out of an archive."""

    files: int
    """Members, folders and links among them."""
    size: int
    """Bytes of all files together."""


@dataclass(frozen=True)
class Member:
    """A file in an archive."""

    name: str
    size: int
    content: IO[bytes]


class ArchiveError(MerlinError):
    """An archive that is damaged, or asks for what is not given."""


@contextmanager
def members_of(archive: Path, limits: ArchiveLimits) -> Iterator[Iterator[Member]]:
    """The files of an archive, to be read in turn; folders, links and devices are passed over."""
    try:
        file = open_regular(archive)
    except OSError as error:
        raise ArchiveError(
            f"{archive} cannot be read ({error.strerror}); check that it is a file you may read."
        ) from error
    try:
        with file as content:
            if archive.suffix == ".zip":
                short: Any = _ShortReads(archive, content, limits)
                with zipfile.ZipFile(short) as bundle:
                    yield _zipped(archive, bundle, limits)
            else:
                yield from _taped(archive, content, limits)
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, struct.error, EOFError) as error:
        raise ArchiveError(f"{archive} is damaged ({error}); fetch it again.") from error
    except (ValueError, LookupError, RuntimeError, OverflowError) as error:
        raise ArchiveError(f"{archive} is damaged ({type(error).__name__}: {error}); fetch it again.") from error


# Zip


def _zipped(archive: Path, bundle: zipfile.ZipFile, limits: ArchiveLimits) -> Iterator[Member]:
    if len(bundle.infolist()) > limits.files:
        raise too_many(archive, limits)
    for info in bundle.infolist():
        if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
            continue
        if info.flag_bits & 0x41:
            raise ArchiveError(f"{archive} is encrypted ({shown(info.filename)}); fetch one that is not.")
        if info.compress_type not in METHODS:
            raise ArchiveError(
                f"{archive} has {shown(info.filename)} compressed by method {info.compress_type} instead of "
                f"{' or '.join(METHODS.values())}; fetch the official archive."
            )
        with bundle.open(info) as content:
            yield Member(info.filename, info.file_size, content)


class _ShortReads:
    """A file of which only so much is read at once: a zip archive's list of members is read into memory whole."""

    def __init__(self, archive: Path, content: IO[bytes], limits: ArchiveLimits) -> None:
        self._archive, self._content, self._limits = archive, content, limits
        self._most = LISTED * limits.files + (1 << 20)

    def read(self, size: int = -1) -> bytes:
        if not -1 <= size <= self._most:
            raise too_many(self._archive, self._limits)
        block = self._content.read(self._most if size < 0 else size)
        if size < 0 and self._content.read(1):
            raise too_many(self._archive, self._limits)
        return block

    def seek(self, place: int, whence: int = 0) -> int:
        try:
            return self._content.seek(place, whence)
        except OSError:
            raise zipfile.BadZipFile("it refers to a place before its beginning") from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)


# Tar


class _Info(tarfile.TarInfo):
    """The header of a member, refused where it would be read into memory and is long."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str | None, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        if info.size < 0:
            raise tarfile.ReadError("a member of negative length")
        if info.type in HEADERS and info.size > LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {info.size:,} bytes")
        return info


class _Counted:
    """What a compressed file unpacks to, as long as it is not more than was declared."""

    def __init__(self, archive: Path, content: gzip.GzipFile, limits: ArchiveLimits) -> None:
        self._archive, self._content, self._limits = archive, content, limits
        self._left = limits.size + limits.files * 2048 + (1 << 20)  # headers and padding take their share

    def read(self, size: int) -> bytes:
        block = self._content.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise too_large(self._archive, self._limits)
        return block


def _taped(archive: Path, content: IO[bytes], limits: ArchiveLimits) -> Iterator[Iterator[Member]]:
    with gzip.GzipFile(fileobj=content) as unpacked:
        counted: Any = _Counted(archive, unpacked, limits)
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_Info) as tape:
            yield _on_tape(archive, tape, limits)
            while counted.read(1 << 20):  # to the very end, where the checksum of the whole is
                pass


def _on_tape(archive: Path, tape: tarfile.TarFile, limits: ArchiveLimits) -> Iterator[Member]:
    for count, info in enumerate(tape, start=1):
        if count > limits.files:
            raise too_many(archive, limits)
        if info.issparse() or info.type == tarfile.GNUTYPE_SPARSE:
            raise ArchiveError(f"{archive} has a file with holes ({shown(info.name)}); fetch the official archive.")
        if info.isreg() and (content := tape.extractfile(info)) is not None:
            with content:
                yield Member(info.name, info.size, content)


# Both


def too_many(archive: Path, limits: ArchiveLimits) -> ArchiveError:
    """The error for an archive that lists more than was declared."""
    return ArchiveError(
        f"{archive} lists more than the {limits.files:,} members that were declared; nothing of it was unpacked. Fetch the "
        "official archive."
    )


def too_large(archive: Path, limits: ArchiveLimits) -> ArchiveError:
    """The error for an archive that unpacks to more than was declared."""
    return ArchiveError(
        f"{archive} unpacks to more than the {limits.size:,} bytes that were declared; nothing of it was unpacked. Fetch the "
        "official archive."
    )


def shown(name: str) -> str:
    """A name out of an archive, fit for a sentence: short, nothing that a terminal would obey."""
    return repr(name if len(name) <= 80 else f"{name[:77]}...")
