"""Compare the files of a data set with what its publisher says of them."""

from pathlib import Path

from merlin_cl.streams.catalogue.checksum import digest
from merlin_cl.streams.catalogue.entry import Entry


def differing(entry: Entry, place: Path) -> dict[str, str]:
    """Files that are not as published, and what is wrong with each. Empty where none is, or where nothing is published."""
    faults = {}
    for published in entry.published:
        file = place / published.file
        if not file.is_file():
            if not _in_another_form(file):
                faults[published.file] = "is missing"
            continue
        size = file.stat().st_size
        if size != published.size:
            faults[published.file] = f"differs from the published file ({size:,} bytes instead of {published.size:,})"
            continue
        there = digest(file, published.checksum.partition(":")[0])
        if there != published.checksum:
            faults[published.file] = f"differs from the published file ({there} instead of {published.checksum})"
    return faults


def _in_another_form(file: Path) -> bool:
    """Whether a compressed file lies there decompressed, which no published checksum covers."""
    return file.suffix == ".gz" and file.with_suffix("").is_file()
