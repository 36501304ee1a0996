"""What is known of a data set without opening it: where it is looked for, what it is made of, how to get it. Free of torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """A file to fetch."""

    file: str
    """Its place below the data folder; an archive is there while it is unpacked."""
    urls: tuple[str, ...]
    """Where it can be had, tried in turn."""
    size: int
    """Its size in bytes; only about right where no checksum is known."""
    checksum: str | None = None
    """As `md5:...` or `sha256:...`; None where its publisher gives none."""
    unpack_into: str | None = None
    """For an archive: the folder below the data folder into which its members go."""
    sign: str = ""
    """For an archive without published files: a pattern below the data folder of what is there once it is unpacked."""
    members: str = ""
    """For an archive: the beginning of the names of the members wanted; it is left off."""


@dataclass(frozen=True)
class Published:
    """A file of the data set as it lies in its folder, with what its publisher says of it."""

    file: str
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
    published: tuple[Published, ...] = ()
    by_hand: str = ""
    """What to fetch and where to put it ({folder}), where the terms do not allow fetching it for the user."""

    @property
    def download_size(self) -> int:
        """Bytes to fetch in all."""
        return sum(one.size for one in self.downloads)
