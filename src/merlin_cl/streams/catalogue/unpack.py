"""Unpack an archive so that nothing half-written is found under a final name, and nothing outside the folder is touched."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath

from merlin_cl.streams.catalogue.archives import ArchiveError, ArchiveLimits, Member, members_of, shown, too_large

LONGEST_NAME = 255
"""Bytes in the name of a file or folder, as most file systems have it."""
LONGEST_PATH = 1000


def unpack(
    archive: Path, into: Path, limits: ArchiveLimits, members: str = "", check: Callable[[Path], None] = lambda _: None
) -> None:
    """Put the files of a zip or tar.gz archive into a folder; only those whose names begin with `members`, which is left off.

    `check` sees the folder before it is moved into place, and may refuse it.
    """
    into.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=into.parent))
    try:
        names = _Names(archive)
        left = limits.size
        with members_of(archive, limits) as archived:
            for member in archived:
                if member.name.startswith(members):
                    path = names.admit(member.name.removeprefix(members))
                    left -= member.size
                    if left < 0:
                        raise too_large(archive, limits)
                    _write(archive, aside / path, member)
        if not names:
            raise ArchiveError(f"{archive} has no files named {members}*, so it is not the archive that was expected.")
        check(aside)
        _move(aside, into)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


class _Names:
    """The names in an archive: each within the folder, none twice, none both of a file and of a folder."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def __len__(self) -> int:
        return len(self._files)

    def admit(self, name: str) -> PurePosixPath:
        """The path that a name stands for."""
        path = self._safe(name)
        own = str(path).casefold()  # some file systems take A and a for the same
        above = {str(folder).casefold() for folder in path.parents if folder.parts}
        if own in self._files or own in self._folders or above & self._files:
            raise ArchiveError(
                f"{self._archive} has {shown(name)} twice; nothing of it was unpacked. Fetch the official archive."
            )
        self._files.add(own)
        self._folders |= above
        return path

    def _safe(self, name: str) -> PurePosixPath:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts or PureWindowsPath(name).drive:
            raise ArchiveError(
                f"{self._archive} wants to write to {shown(name)}, outside its folder; nothing of it was unpacked."
            )
        lengths = [len(part.encode(errors="surrogateescape")) for part in path.parts]
        if not name.isprintable() or max(lengths) > LONGEST_NAME or sum(lengths) + len(lengths) > LONGEST_PATH:
            raise ArchiveError(
                f"{self._archive} has a file with an impossible name ({shown(name)}); nothing of it was unpacked."
            )
        return path


def _write(archive: Path, file: Path, member: Member) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as target:
        shutil.copyfileobj(member.content, target, 1 << 20)
        if target.tell() != member.size:
            raise ArchiveError(
                f"{archive} is damaged ({target.tell():,} bytes of {shown(member.name)} instead of {member.size:,}); fetch "
                "it again."
            )


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
