"""Whether a file is the one its publisher means."""

import hashlib
from pathlib import Path


def digest(file: Path, kind: str) -> str:
    """The checksum of a file, as `kind:hexadecimal digits`; kind is md5 or sha256."""
    with file.open("rb") as content:
        # md5 is what publishers give; it guards against damage, not against malice.
        return f"{kind}:{hashlib.file_digest(content, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()}"


def matches(file: Path, checksum: str) -> bool:
    """Whether the file is there with that checksum."""
    return file.is_file() and digest(file, checksum.partition(":")[0]) == checksum
