"""Features on disk, filed under the checksum of what computed them and the content of each input.

A folder for every source of features holds files of a few thousand rows each: the digests of inputs and their features, as
safetensors with a checksum. Files are written whole or not at all and never changed; any number of processes may share them. The
files that were used longest ago go when all of them take more room than they may.
"""

import hashlib
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.statefile import DamagedError, encode, opened, write_whole

FOLDER = "MERLIN_FEATURES"
"""The environment variable that says where features are kept."""
ROOM = "MERLIN_FEATURES_BYTES"
"""The environment variable that says how many bytes they may take."""
USUAL_ROOM = 4 * 2**30
"""Bytes that features may take where nobody says: those of three data sets of 60,000 images and ten of their texts."""
ROWS = 4096
"""Inputs in a file at most: what a kill can cost, and 20 MB with 1,280 features."""
FEWEST = 256
"""Inputs that must come together to be kept: a service that is asked one at a time is not to fill a disk with files."""
DIGEST = 16
"""Bytes of an input's digest."""

Raw = Tensor | Sequence[str]
"""Inputs: a tensor [N, ...], or texts."""


def usual_folder() -> Path:
    """Where features are kept: the folder that MERLIN_FEATURES names, or the platform's folder for caches."""
    named = os.environ.get(FOLDER)
    return Path(named or Path(platformdirs.user_cache_dir("merlin-cl", appauthor=False)) / "features").expanduser()


def room() -> int:
    """Bytes that all features on disk may take."""
    said = os.environ.get(ROOM, str(USUAL_ROOM))
    if not said.isdecimal():
        raise UsageError(
            f"{ROOM} is {said!r}; give a whole number of bytes, such as {USUAL_ROOM}, or 0 to keep nothing."
        )
    return int(said)


def digests(inputs: Raw) -> list[bytes]:
    """The digest of every input, which two inputs share if they are the same."""
    if isinstance(inputs, Tensor):
        shape = f"{inputs.dtype} {tuple(inputs.shape[1:])}".encode()
        rows = inputs.detach().cpu().contiguous().numpy().reshape(len(inputs), -1)
        return [_digest(shape, row.data) for row in rows]
    return [_digest(b"text", text.encode("utf-8", "surrogatepass")) for text in inputs]


def _digest(kind: bytes, content: Any) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST, person=hashlib.blake2b(kind, digest_size=16).digest()).digest()


class Cache:
    """The features that one source has computed."""

    def __init__(self, source: str, folder: Path | None = None) -> None:
        """`source` is its checksum; `folder` holds the folders of all sources."""
        self._all = folder or usual_folder()
        self.folder = self._all / source
        self._places: dict[bytes, tuple[Path, int]] = {}  # of every input known: its file and row
        self._known: set[Path] = set()

    def find(self, wanted: Sequence[bytes]) -> dict[bytes, Tensor]:
        """The features of those inputs, by digest, that are on disk."""
        self._look_around()
        by_file: dict[Path, list[bytes]] = {}
        for digest in dict.fromkeys(wanted):
            if digest in self._places:
                by_file.setdefault(self._places[digest][0], []).append(digest)
        known: dict[bytes, Tensor] = {}
        for path, some in by_file.items():
            features = self._read(path)
            if features is not None:
                known |= {digest: features[self._places[digest][1]] for digest in some}
        return known

    def keep(self, known: Sequence[bytes], features: Tensor) -> None:
        """Write the features [n, size] of some inputs to a file; a disk that takes none is no reason to stop, but is said."""
        most = room()
        if not len(features) or features.nbytes > most:
            return
        keys = torch.frombuffer(bytearray(b"".join(known)), dtype=torch.uint8).view(-1, DIGEST)
        path = self.folder / f"{hashlib.blake2b(b''.join(known), digest_size=8).hexdigest()}.safetensors"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(
                path, encode({"inputs": keys, "features": features.contiguous()}, {"kind": "merlin-cl features"})
            )
            make_room(self._all, most, keep=path)
        except OSError as error:
            warnings.warn(
                f"Features cannot be kept in {self._all} ({error.strerror}) and will be computed again; make room there, or name "
                f"another folder in {FOLDER}.",
                stacklevel=2,
            )

    def _look_around(self) -> None:
        """Take note of files that are new, and of those that are gone."""
        with suppress(OSError):
            present = set(self.folder.glob("*.safetensors"))
            for path in present - self._known:
                with suppress(OSError, DamagedError, KeyError):
                    with opened(path) as file:
                        rows = np.ascontiguousarray(file.array(str(file.marked["inputs"]["$tensor"])))
                    self._places |= {row.tobytes(): (path, at) for at, row in enumerate(rows)}
            if self._known - present:
                self._places = {digest: place for digest, place in self._places.items() if place[0] in present}
            self._known = present

    def _read(self, path: Path) -> Tensor | None:
        """The features in a file; one that is damaged is removed and counts for nothing."""
        try:
            with opened(path) as file:
                state = file.state()
            os.utime(path)  # used just now
            features: Tensor = state["features"]
            if features.dim() != 2 or len(features) != len(state["inputs"]):
                raise DamagedError("rows that do not match")
            return features
        except (DamagedError, KeyError, AttributeError, TypeError):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        except OSError:
            pass
        self._places = {digest: place for digest, place in self._places.items() if place[0] != path}
        return None


def make_room(folder: Path, most: int, keep: Path | None = None) -> None:
    """Remove the files that were used longest ago until all of them take at most so many bytes."""
    files = []
    for path in folder.glob("*/*.safetensors"):
        with suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime_ns, status.st_size, path))
    taken = sum(size for _, size, _ in files)
    for _, size, path in sorted(files, key=lambda file: file[0]):
        if taken <= most:
            return
        if path != keep:
            with suppress(OSError):
                path.unlink()
                taken -= size
