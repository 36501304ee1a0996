"""What is in a file, told from its header and from where its tensors are: nothing is made of it, nothing is imported."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.learners.saving.format import read_header
from merlin_cl.statefile import TENSOR, TYPES, StoredTensor

CLASSES_OF_A_TASK = 20
"""Classes of a task that are named; of more, how many there are."""


@dataclass(frozen=True)
class Contents:
    """What a file says of itself."""

    path: str
    bytes: int
    format: int
    written_by: str
    """The version of merlin-cl."""
    method: str
    settings: dict[str, Any]
    classes: list[Any]
    tasks: list[dict[str, Any]]
    """Name and classes of each visit of a task."""
    learning: bool
    """Whether the last task goes on."""
    input_shape: list[int]
    input_type: str
    columns: list[str]
    standardised: bool
    exemplars: dict[str, int]
    """Examples that are kept, by class."""
    held_back: int
    """Examples that are kept to calibrate with."""
    parts: dict[str, int]
    """Bytes of tensors, by what they are part of."""
    seed: int
    network: str | None
    """Code outside the package that the learner needs, if it needs any."""

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def contents(path: Path) -> Contents:
    """What the file at a path says of itself; one that is damaged or none of ours is refused in a sentence."""
    file_header = read_header(path)
    header, marked = file_header.header, file_header.marked
    try:
        learner, classes = marked["learner"], list(header["classes"])
        return Contents(
            path=str(path),
            bytes=os.stat(path).st_size,
            format=file_header.version,
            written_by=str(header.get("merlin_cl", "unknown")),
            method=str(header["method"]),
            settings=dict(header["settings"]),
            classes=classes,
            tasks=[
                {"name": name, "classes": [classes[output] for output in task["classes"]]}
                for name, task in zip(header["tasks"], learner["tasks"], strict=True)
            ],
            learning=bool(learner["learning"]),
            input_shape=[int(size) for size in header["stream"]["input_shape"]],
            input_type="bytes" if header["inputs"]["bytes"] else "numbers",
            columns=[str(name) for name in header["inputs"]["columns"]],
            standardised=bool(marked["standardisation"]),
            exemplars=_exemplars(learner["method"], classes),
            held_back=len(marked["extra"].get("calibration", {}).get("y", [])),
            parts=_parts(marked, file_header.entries),
            seed=int(header["seed"]),
            network=_network(header),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise MerlinError(
            f"{path} is whole, but says of itself what no learner does ({type(error).__name__}: {error}); save it again."
        ) from None


def _exemplars(method: Any, classes: list[Any]) -> dict[str, int]:
    """How many examples of each class a method keeps, wherever it keeps them."""
    counts: dict[str, int] = {}
    for memory in _memories(method):
        for output in memory["labels"]:
            name = str(classes[output])
            counts[name] = counts.get(name, 0) + 1
    return counts


def _memories(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.keys() >= {"x", "labels", "tasks", "seen"} and isinstance(value["labels"], list):
            yield value
        for item in value.values():
            yield from _memories(item)


def _parts(marked: dict[str, Any], entries: dict[str, StoredTensor]) -> dict[str, int]:
    """Bytes of the tensors of a method's parts and of what else there is."""
    sizes = {name: math.prod(entry.shape) * TYPES[entry.kind][1] for name, entry in entries.items()}
    groups = {
        **{str(name): value for name, value in marked["learner"]["method"].items()},
        "standardisation": marked["standardisation"],
        **{str(name): value for name, value in marked["extra"].items()},
    }
    totals = {name: sum(sizes[mark] for mark in _marks(value)) for name, value in groups.items()}
    return {name: total for name, total in totals.items() if total}


def _marks(value: Any) -> Iterator[str]:
    """The names of all tensors at any depth."""
    if isinstance(value, dict):
        if TENSOR in value:
            yield value[TENSOR]
        else:
            for item in value.values():
                yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)


def _network(header: dict[str, Any]) -> str | None:
    from merlin_cl.networks.reference import is_reference

    name = header["settings"].get("network")
    return name if isinstance(name, str) and is_reference(name) else None
