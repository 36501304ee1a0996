"""Get a data set: fetch what is missing, unpack it, check it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from merlin_cl.errors import MerlinError
from merlin_cl.streams.catalogue.archives import ArchiveLimits
from merlin_cl.streams.catalogue.checksum import matches
from merlin_cl.streams.catalogue.download import fetch
from merlin_cl.streams.catalogue.entry import Download, Entry
from merlin_cl.streams.catalogue.unpack import unpack
from merlin_cl.streams.catalogue.verify import differing
from merlin_cl.streams.data_dirs import find

Progress = Callable[[str, int, int], None]
"""Told what is being fetched, how many bytes of it there are, and how many there will be."""


class ByHandError(MerlinError):
    """The terms of a data set do not allow fetching it for the user."""


def get(entry: Entry, home: Path, told: Progress, *, mirror: str | None = None, again: bool = False) -> list[Path]:
    """Fetch what is missing of a data set into a data folder and give what was written; with `again`, fetch everything.

    A data set that the user has in another form is left alone, and so is a file that is not as published. `mirror` is an
    address tried before the known ones: the name of a file is put after it.
    """
    home.mkdir(parents=True, exist_ok=True)
    place = find(entry)
    if not entry.downloads:
        if place is None:
            raise ByHandError(instructions(entry, home))
        return []
    wanted = [one for one in entry.downloads if again or not _is_there(entry, one, home)]
    if place is not None and not again:
        wrong = differing(entry, place)
        _refuse_to_replace(entry, place, wrong)
        if not wrong and len(wanted) == len(entry.downloads):
            return []  # all there, not as we would have put it
    return [_got(entry, _with_mirror(one, mirror), home, told) for one in wanted]


def instructions(entry: Entry, home: Path) -> str:
    """What the user has to do where nothing may be fetched for them."""
    steps = entry.by_hand.format(folder=home / entry.folders[0])
    return f"{entry.title} cannot be fetched for you. {steps} Then `merlin data verify {entry.name}` checks it."


def _got(entry: Entry, download: Download, home: Path, told: Progress) -> Path:
    target = home / download.file
    name = target.name
    fetch(download, target, lambda there, total: told(name, there, total))
    archive = download.archive
    if archive is None:
        return target

    def check(unpacked: Path) -> None:
        """Refuse an archive whose files are not as published, whatever its own checksum says."""
        wrong = {} if archive.sign else differing(entry, unpacked / entry.folders[0])
        for file, what in wrong.items():
            raise MerlinError(
                f"{file} in {target} {what}; nothing of it was unpacked. Try another mirror with --mirror."
            )

    try:
        unpack(target, home / archive.into, ArchiveLimits(archive.files, archive.size), archive.members, check)
    except OSError as error:
        why = f"{error.strerror or type(error).__name__} at {error.filename or home / archive.into}"
        raise MerlinError(
            f"{name} could not be unpacked ({why}), and nothing of it was kept; mend that, with room for "
            f"{archive.size:,} bytes, and get it again."
        ) from error
    finally:
        target.unlink()
    return home / archive.into


def _is_there(entry: Entry, download: Download, home: Path) -> bool:
    if download.archive is None:
        return download.checksum is not None and matches(home / download.file, download.checksum)
    if download.archive.sign:
        return next(home.glob(download.archive.sign), None) is not None
    return not differing(entry, home / entry.folders[0])


def _refuse_to_replace(entry: Entry, place: Path, wrong: dict[str, str]) -> None:
    for file, what in wrong.items():
        if (place / file).exists():
            raise MerlinError(
                f"{place / file} {what}, and was left alone; `merlin data get {entry.name} --again` replaces it."
            )


def _with_mirror(download: Download, mirror: str | None) -> Download:
    if mirror is None:
        return download
    own = f"{mirror.rstrip('/')}/{download.urls[0].rpartition('/')[2]}"
    return replace(download, urls=(own, *download.urls))
