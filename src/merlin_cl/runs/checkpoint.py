"""Checkpoints: the state of a run in one safetensors file, its plain values as JSON in the metadata, and a checksum.

Nothing is pickled, so reading a checkpoint runs no code from it.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from merlin_cl.errors import MerlinError
from merlin_cl.runs.folder import write_whole

State = dict[str, Any]
"""Nested dictionaries and lists of tensors and of values that JSON can hold."""

KEPT = 2
TENSOR = "$tensor"
"""The key that marks the place of a tensor in the JSON part."""


class Checkpoints:
    """The checkpoints of one run, one a task, the last two kept."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder = folder
        self.run = run  # the digest of the settings: a checkpoint of other settings is refused

    def save(self, tasks_done: int, state: State) -> Path:
        """Write the state after so many tasks, then drop the oldest checkpoints."""
        path = self.folder / f"task-{tasks_done:03d}.safetensors"
        write_whole(path, encode(state, {"run": self.run, "tasks_done": str(tasks_done)}))
        for old in self.paths()[:-KEPT]:
            old.unlink()
        return path

    def latest(self) -> State | None:
        """The state in the newest checkpoint, None if there is none yet."""
        paths = self.paths()
        if not paths:
            return None
        newest, earlier = paths[-1], len(paths) > 1
        back = "from the checkpoint before it" if earlier else "from the start"
        remedy = f"delete that file and the run goes on {back}"
        try:
            state, labels = decode(newest.read_bytes())
        except (SafetensorError, ValueError, KeyError) as error:
            raise MerlinError(f"The checkpoint {newest} is damaged ({_brief(error)}); {remedy}.") from None
        if labels["run"] != self.run:
            raise MerlinError(f"The checkpoint {newest} belongs to a run with other settings; {remedy}.")
        return state

    def paths(self) -> list[Path]:
        """The checkpoint files, oldest first."""
        return sorted(self.folder.glob("task-*.safetensors"))


def encode(state: State, labels: dict[str, str]) -> bytes:
    """A state as the bytes of a safetensors file; `labels` are kept beside it in the metadata."""
    tensors: dict[str, Tensor] = {}
    plain = json.dumps(_without_tensors(state, "", tensors), sort_keys=True)
    checksum = _checksum(plain, labels, tensors)
    return save(tensors, {"state": plain, "checksum": checksum, **labels})


def decode(content: bytes) -> tuple[State, dict[str, str]]:
    """The state and the labels that `encode` was given; raises ValueError or SafetensorError on damage."""
    tensors = load(content)
    length = int.from_bytes(content[:8], "little")
    labels: dict[str, str] = json.loads(content[8 : 8 + length])["__metadata__"]
    plain, checksum = labels.pop("state"), labels.pop("checksum")
    if checksum != _checksum(plain, labels, tensors):
        raise ValueError("its checksum does not match")
    state: State = _with_tensors(json.loads(plain), tensors)
    return state, labels


def _without_tensors(value: Any, where: str, tensors: dict[str, Tensor]) -> Any:
    """The value with every tensor moved to `tensors` and a mark left in its place."""
    if isinstance(value, Tensor):
        # A copy of its own: views of one storage, as the weights of a bank are, must not share memory in the file.
        tensors[where] = value.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        return {TENSOR: where}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key == TENSOR:
                raise TypeError(f"The key {key!r} of {where or 'the state'} cannot be kept; keys must be strings.")
        return {key: _without_tensors(item, f"{where}/{key}", tensors) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tensors(item, f"{where}/{index}", tensors) for index, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{where} is a {type(value).__name__}; a state holds tensors and plain values only.")


def _with_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if TENSOR in value:
            return tensors[value[TENSOR]]
        return {key: _with_tensors(item, tensors) for key, item in value.items()}
    return [_with_tensors(item, tensors) for item in value] if isinstance(value, list) else value


def _checksum(plain: str, labels: dict[str, str], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps([plain, labels], sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _brief(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
