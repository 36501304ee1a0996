"""Unpack an archive so that nothing half-written is found under a final name, and nothing outside the folder is touched."""

import gzip
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from merlin_cl.errors import MerlinError

Member = tuple[str, IO[bytes]]


def unpack(archive: Path, into: Path, members: str = "") -> None:
    """Put the files of a zip or tar.gz archive into a folder; only those whose names begin with `members`, which is left off."""
    into.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=into.parent))
    try:
        with _opened(archive) as content:
            count = 0
            for name, source in content:
                if name.startswith(members):
                    _write(aside / _safe(archive, name.removeprefix(members)), source)
                    count += 1
        if not count:
            raise MerlinError(f"{archive} has no files named {members}*, so it is not the archive that was expected.")
        _move(aside, into)
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise MerlinError(f"{archive} is damaged ({error}); fetch it again.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _opened(archive: Path) -> Iterator[Iterator[Member]]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as bundle:
            yield ((info.filename, bundle.open(info)) for info in bundle.infolist() if not info.is_dir())
    else:
        with gzip.open(archive) as content, tarfile.open(fileobj=content, mode="r|") as tape:
            yield ((info.name, source) for info in tape if info.isfile() and (source := tape.extractfile(info)))
            while content.read(1 << 20):  # to the very end, where the checksum of the whole is
                pass


def _safe(archive: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise MerlinError(f"{archive} wants to write to {name!r}, outside its folder; nothing of it was unpacked.")
    return path


def _write(file: Path, source: IO[bytes]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with source, file.open("xb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _move(source: Path, target: Path) -> None:
    """Rename a folder into place; into one that is there its files go one by one."""
    if not target.exists():
        source.chmod(0o755)
        os.rename(source, target)
        return
    for one in source.iterdir():
        if one.is_dir() and (target / one.name).is_dir():
            _move(one, target / one.name)
        else:
            os.replace(one, target / one.name)
