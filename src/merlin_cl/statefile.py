"""A state in one file: tensors as safetensors, all else as JSON in its metadata, and a checksum; written whole or not at all.

Runs, saved learners and reports share it. Reading a file runs no code from it, and takes no more memory than the file has bytes:
what the header promises is compared with the file before anything is read. Free of torch until tensors are asked for.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from merlin_cl.errors import MerlinError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

if sys.platform != "win32":
    import fcntl

State = dict[str, Any]
"""Nested dictionaries and lists of tensors and of values that JSON can hold; keys are text or whole numbers."""

TENSOR = "$tensor"
"""The key that marks the place of a tensor in the JSON part."""
NUMBERED = "$numbered"
"""The key that marks a dictionary with whole numbers among its keys, as torch's optimisers have: its value is a list of pairs."""
LARGEST_HEADER = 100_000_000
"""Bytes: what safetensors itself takes at most."""
TYPES = {
    "BOOL": ("bool", 1),
    "U8": ("uint8", 1),
    "I8": ("int8", 1),
    "I16": ("int16", 2),
    "I32": ("int32", 4),
    "I64": ("int64", 8),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "F32": ("float32", 4),
    "F64": ("float64", 8),
}
"""The types of numbers that a state may have, by what safetensors calls them: torch's name, and bytes a number."""
MOST_DIMENSIONS = 16
PART = re.compile(r"\..+\.[0-9a-f]{16}\.part")
"""What a file that is still being written is called."""


class DamagedError(ValueError):
    """A file that is not what was written; the text says why in a few words, and whoever reads it names the file."""


class StoredTensor(NamedTuple):
    """Where a tensor is in a file."""

    kind: str
    shape: tuple[int, ...]
    start: int
    stop: int


class StateFile:
    """A file that `encode` made; of its tensors nothing is read until it is asked for."""

    labels: dict[str, str]
    """What `encode` was given beside the state."""
    marked: Any
    """The state with a mark, {TENSOR: name}, in the place of every tensor."""
    entries: dict[str, StoredTensor]
    """Where each tensor is."""

    def __init__(self, file: BinaryIO, size: int, largest_header: int = LARGEST_HEADER) -> None:
        """Of a file of so many bytes; DamagedError where its header is none of ours or does not speak of so many."""
        self._file = file
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, largest_header):
            raise DamagedError("it has no header")
        header = _parsed(file.read(length))
        labels = header.pop("__metadata__", None) if isinstance(header, dict) else None
        if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
            raise DamagedError("its header says nothing of a state")
        self._plain, self._checksum = labels.pop("state", ""), labels.pop("checksum", "")
        self.labels, self.marked = labels, _parsed(self._plain)
        self.entries = {name: _entry(value) for name, value in header.items()}
        self._begin = 8 + length  # of the tensors
        end = self._begin + _end_of(self.entries.values())
        if end != size:
            raise DamagedError(f"it has {size} bytes, but its header speaks of {end}")

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """One tensor as a numpy array, without a look at the checksum."""
        import numpy as np

        entry = self.entries[name]
        kind = TYPES[entry.kind][0]
        if kind == "bfloat16":
            raise DamagedError(f"{name} has numbers of 16 bits that numpy does not know")
        return np.frombuffer(self._bytes(entry), dtype=kind).reshape(entry.shape)

    def state(self) -> State:
        """The state, once its checksum is found right."""
        try:
            return self._read()
        except (RecursionError, UnicodeError) as error:  # JSON nested without end, names that are no text
            raise DamagedError(type(error).__name__) from None

    def _read(self) -> State:
        import torch

        tensors = {}
        for name, entry in self.entries.items():
            kind, content = getattr(torch, TYPES[entry.kind][0]), self._bytes(entry)
            if entry.kind == "BOOL" and content.strip(b"\0\1"):
                raise DamagedError("it has truth values that are neither true nor false")
            flat = torch.frombuffer(content, dtype=kind) if content else torch.empty(0, dtype=kind)
            tensors[name] = flat.view(entry.shape)
        if self._checksum != _checksum(self._plain, self.labels, tensors):
            raise DamagedError("its checksum does not match")
        state = _with_tensors(self.marked, tensors)
        if tensors or not isinstance(state, dict):
            raise DamagedError("its tensors are not those of its state")
        return state

    def _bytes(self, entry: StoredTensor) -> bytearray:
        content = bytearray(entry.stop - entry.start)
        self._file.seek(self._begin + entry.start)
        if self._file.readinto(content) != len(content):  # type: ignore[attr-defined]  # every binary file has it
            raise DamagedError("it ends too early")
        return content


@contextmanager
def opened(path: Path, largest_header: int = LARGEST_HEADER) -> Iterator[StateFile]:
    """The state in a file; whoever else replaces the file meanwhile, this one is read."""
    with open_regular(path) as file:
        yield StateFile(file, os.fstat(file.fileno()).st_size, largest_header)


def encode(state: State, labels: dict[str, str]) -> bytes:
    """A state as the bytes of a safetensors file; `labels` are kept beside it in the metadata."""
    from safetensors.torch import save

    tensors: dict[str, Tensor] = {}
    plain = json.dumps(_without_tensors(state, "", tensors), sort_keys=True)
    return save(tensors, {"state": plain, "checksum": _checksum(plain, labels, tensors), **labels})


def decode(content: bytes) -> tuple[State, dict[str, str]]:
    """The state and the labels that `encode` was given; DamagedError where the bytes are not those that it gave."""
    file = StateFile(BytesIO(content), len(content))
    return file.state(), file.labels


def open_regular(path: Path) -> BinaryIO:
    """A file opened for reading, refused where the path is that of anything else: a pipe would wait, a device has no end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")
    raise MerlinError(f"{path} is {kind}; give the path of a file.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a name of its own, make sure it is on disk, and rename it: readers see the old or the new.

    Several may write the same file at once; the last one's stays. What a killed process left behind goes with the next write.
    """
    clear_leftovers(path.parent, path.name)
    temporary, file = _begun(path)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":  # which lets no open file be renamed, nor removed by others
                temporary.replace(path)
        if sys.platform == "win32":
            temporary.replace(path)
        else:
            _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        _name_file(error, path)
        raise


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep others who ask for the same from changing a file: of two who read, change and replace it, one would be lost."""
    if sys.platform == "win32":
        yield
        return
    while True:
        with open_regular(path) as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MerlinError(f"{path} is being changed by another process; wait until that is done.") from None
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):  # or it was replaced before it was locked
                yield
                return


def clear_leftovers(folder: Path, name: str = "") -> None:
    """Remove what killed processes left of a file; without a name, of every file in a folder that is ours alone.

    A file that is being written is locked, so what nobody has locked is left over.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            of_file = entry.name.startswith(_stem(name)) and PART.fullmatch(entry.name)
            earlier = entry.name == f".{name}.part"  # what earlier versions called it
            if of_file or earlier if name else entry.name.startswith(".") and entry.name.endswith(".part"):
                _remove_unlocked(Path(entry.path))


def _begun(path: Path) -> tuple[Path, BinaryIO]:
    """A new file beside `path`, locked, so that others see that it is being written."""
    while True:
        temporary = path.with_name(f"{_stem(path.name)}{secrets.token_hex(8)}.part")
        try:
            file = temporary.open("xb")
        except OSError as error:
            _name_file(error, path)
            raise
        with suppress(OSError):  # not every file system has locks; then nobody removes leftovers either
            if sys.platform != "win32":
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()  # somebody took it for a leftover before it was locked


def _name_file(error: BaseException, path: Path) -> None:
    """Let an error say which file could not be written: a full disk names none, and nobody knows the temporary name."""
    if isinstance(error, OSError):
        error.filename, error.filename2 = str(path), None


def _stem(name: str) -> str:
    """How the name of a file that is still being written begins; short enough, whatever the file's own name."""
    return f".{name[:40]}."


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError), path.open("r+b") as file:
        if sys.platform != "win32":
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    if sys.platform == "win32":
        with suppress(OSError):
            path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make sure that a renaming is on disk; where folders cannot be synced, it is soon."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"its header is no JSON: {type(error).__name__}") from None


def _entry(value: Any) -> StoredTensor:
    """A tensor's entry in the header, once it says the same in both ways in which it says how long the tensor is."""
    try:
        kind, shape, (start, stop) = value["dtype"], tuple(value["shape"]), value["data_offsets"]
        numbers = (start, stop, *shape)
        whole = all(type(number) is int and 0 <= number < 2**48 for number in numbers)
        if whole and len(shape) <= MOST_DIMENSIONS and math.prod(shape) * TYPES[kind][1] == stop - start:
            return StoredTensor(kind, shape, start, stop)
    except (KeyError, TypeError, ValueError):
        pass
    raise DamagedError("a tensor's size is not what its header says")


def _end_of(entries: Iterable[StoredTensor]) -> int:
    """Where the last tensor ends, once they are known to follow each other without a gap."""
    end = 0
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.stop)):
        if entry.start != end:
            raise DamagedError("its tensors do not follow each other")
        end = entry.stop
    return end


def _without_tensors(value: Any, where: str, tensors: dict[str, Tensor]) -> Any:
    """The value with every tensor moved to `tensors` and a mark left in its place."""
    import torch

    if isinstance(value, torch.Tensor):
        while where in tensors:  # as {"a/b": tensor, "a": {"b": tensor}} have it
            where += "'"
        # A copy of its own: views of one storage, as the weights of a bank are, must not share memory in the file.
        tensors[where] = value.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        return {TENSOR: where}
    if isinstance(value, dict):
        for key in value:
            if type(key) not in (str, int) or key in (TENSOR, NUMBERED):
                raise TypeError(f"The key {key!r} of {where or 'the state'} cannot be kept; use text or whole numbers.")
        kept = [(key, _without_tensors(item, f"{where}/{key}", tensors)) for key, item in value.items()]
        return {NUMBERED: kept} if any(isinstance(key, int) for key in value) else dict(kept)
    if isinstance(value, list | tuple):
        return [_without_tensors(item, f"{where}/{index}", tensors) for index, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{where} is a {type(value).__name__}; a state holds tensors and plain values only.")


def _with_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The value with every mark replaced by its tensor, which is taken out of `tensors`: no two places share one."""
    if isinstance(value, dict):
        if TENSOR in value:
            name = value[TENSOR]
            if len(value) > 1 or not isinstance(name, str) or name not in tensors:
                raise DamagedError("its tensors are not those of its state")
            return tensors.pop(name)
        if NUMBERED in value:
            return _numbered(value, tensors)
        return {key: _with_tensors(item, tensors) for key, item in value.items()}
    return [_with_tensors(item, tensors) for item in value] if isinstance(value, list) else value


def _numbered(value: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str | int, Any]:
    """The dictionary that a mark with pairs of key and value stands for."""
    pairs = value[NUMBERED]
    if (
        len(value) > 1
        or not isinstance(pairs, list)
        or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    ):
        raise DamagedError("its numbered values are none")
    keys = [key for key, _ in pairs]
    if not all(type(key) in (str, int) for key in keys) or len(set(keys)) != len(keys):
        raise DamagedError("its numbered values are none")
    return {key: _with_tensors(item, tensors) for key, item in pairs}


def _checksum(plain: str, labels: dict[str, str], tensors: dict[str, Tensor]) -> str:
    import torch

    digest = hashlib.sha256(json.dumps([plain, labels], sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
