"""The file: tensors as safetensors, all else as JSON in its metadata. Reading one runs no code from it, whatever is in it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.saving.header import Header
from merlin_cl.statefile import DamagedError, State, StateFile, StoredTensor, encode, open_regular, write_whole

KIND = "merlin-cl learner"
VERSION = 2
"""Of the format; raised when an older merlin-cl could no longer read what this one writes."""

LARGEST_HEADER = 16_000_000
"""Bytes: a hundred thousand classes with long names, or ten thousand tasks."""


def to_bytes(header: Header, state: State) -> bytes:
    """The content of a file."""
    return encode(state, {"kind": KIND, "version": str(VERSION), "header": _as_json(header)})


def as_read(header: Header) -> Header:
    """A header as it will be read again: tuples are lists, NumPy's numbers Python's."""
    read: Header = json.loads(_as_json(header))
    return read


def _as_json(header: Header) -> str:
    return json.dumps(header, sort_keys=True, default=_plain)


def from_bytes(content: bytes, place: str) -> tuple[Header, State]:
    """Header and state from the content of a file; `place` is what to call it in a message."""
    return _read(BytesIO(content), len(content), place)


class FileHeader(NamedTuple):
    """All of a file but its tensors."""

    version: int
    """Of the format."""
    header: Header
    marked: Any
    """The state with a mark in the place of every tensor."""
    entries: dict[str, StoredTensor]
    """Where the tensors are."""


def read_header(path: Path) -> FileHeader:
    """What a file says without a look at its tensors."""
    with _opened(path) as file:
        state_file, version = _labelled(file, os.fstat(file.fileno()).st_size, str(path))
        return FileHeader(version, _header_of(state_file, str(path)), state_file.marked, state_file.entries)


def _labelled(file: BinaryIO, size: int, place: str) -> tuple[StateFile, int]:
    """A file that is one of ours, and the version of its format."""
    try:
        state_file = StateFile(file, size, LARGEST_HEADER)
        kind, version = state_file.labels.get("kind"), int(state_file.labels.get("version", "0"))
        if kind != KIND:
            raise DamagedError("it is of another kind")
    except ValueError as error:
        raise MerlinError(
            f"{place} is no learner that merlin-cl has saved, or not the whole of one ({_brief(error)}); give a file that `save` "
            "wrote."
        ) from None
    if version > VERSION:
        raise MerlinError(
            f"{place} was written by a newer merlin-cl (format {version}; this one reads up to {VERSION}); upgrade merlin-cl to "
            "use it."
        )
    return state_file, version


def _header_of(state_file: StateFile, place: str) -> Header:
    try:
        header = json.loads(state_file.labels["header"])
        if not isinstance(header, dict):
            raise DamagedError("its header is no JSON object")
    except Exception as error:  # whatever a damaged file makes its readers raise, the user is told the same
        raise damaged(place, error) from None
    return header


def _read(file: BinaryIO, size: int, place: str) -> tuple[Header, State]:
    state_file, _ = _labelled(file, size, place)
    header = _header_of(state_file, place)
    try:
        return header, state_file.state()
    except Exception as error:
        raise damaged(place, error) from None


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise UsageError(f"{value!r} is a {type(value).__name__}, which cannot be saved; use text, numbers and lists.")


def damaged(place: str, error: Exception) -> MerlinError:
    """The error for a file that is not what was written."""
    return MerlinError(f"{place} is damaged ({_brief(error)}); take another copy, or save the learner again.")


def _brief(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__


def write(path: str | Path, header: Header, state: State) -> Path:
    """Write a file, whole or not at all."""
    path = Path(path).expanduser()
    try:
        write_whole(path, to_bytes(header, state))
    except OSError as error:
        raise MerlinError(
            f"Cannot write {path} ({error.strerror}); what was there before is unchanged: make room, or choose another place."
        ) from None
    return path


def read(path: str | Path) -> tuple[Header, State]:
    """Header and state of a file."""
    path = Path(path).expanduser()
    with _opened(path) as file:
        return _read(file, os.fstat(file.fileno()).st_size, str(path))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with open_regular(path) as file:
            yield file
    except OSError as error:
        raise MerlinError(f"Cannot read {path} ({error.strerror}); give the path of a saved learner.") from None
