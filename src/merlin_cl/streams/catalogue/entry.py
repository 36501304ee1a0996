"""What is known of a data set without opening it: where it is looked for, what it is made of, how to get it. Free of torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Archive:
    """How a file is unpacked, and how much may come out of it."""

    into: str
    """The folder below the data folder into which its members go."""
    files: int
    """The most members that it may list."""
    size: int
    """The most bytes that they may take together."""
    sign: str = ""
    """Where no files are published: a pattern below the data folder of what is there once it is unpacked."""
    members: str = ""
    """The beginning of the names of the members wanted; it is left off."""


@dataclass(frozen=True)
class Download:
    """A file to fetch."""

    file: str
    """Its place below the data folder; an archive is there while it is unpacked."""
    urls: tuple[str, ...]
    """Where it can be had, tried in turn."""
    size: int
    """Its size in bytes."""
    checksum: str | None = None
    """As `sha256:...`, or as `md5:...` where nobody has computed more than its publisher gives; None where there is nothing."""
    archive: Archive | None = None
    """For a file that is unpacked."""
    exact: bool = True
    """Whether the size is known to the byte; otherwise it is the most that is taken."""


@dataclass(frozen=True)
class PublishedFile:
    """A file of the data set as it lies in its folder, with what its publisher says of it."""

    file: str
    size: int
    checksum: str


@dataclass(frozen=True)
class Entry:
    """A data set in the catalogue."""

    name: str
    title: str
    licence: str
    folders: tuple[str, ...]
    """Where below a data folder it is looked for; the first one is where it is put by hand."""
    signs: tuple[str, ...]
    """Patterns of which any one found in a folder says that the data set is there."""
    downloads: tuple[Download, ...] = ()
    published: tuple[PublishedFile, ...] = ()
    by_hand: str = ""
    """What to fetch and where to put it ({folder}), where the terms do not allow fetching it for the user."""

    @property
    def download_size(self) -> int:
        """Bytes to fetch in all."""
        return sum(one.size for one in self.downloads)

    @property
    def checked_by(self) -> str:
        """What tells whether its files are the published ones, in words; empty where nothing does."""
        files = {one.checksum.partition(":")[0] for one in self.published}
        fetched = {one.checksum.partition(":")[0] for one in self.downloads if one.checksum}
        if files == {"sha256"}:
            return "SHA-256" if fetched == files else "SHA-256 (its archive: MD5)"
        return "MD5, all that its publisher gives" if files | fetched else ""
