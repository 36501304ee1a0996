"""The paper's tables and figures, each a small file: which runs, and which of their numbers stand beside which published ones."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field, fields
from importlib.resources import files
from typing import Any, Literal

from merlin_cl.errors import unknown
from merlin_cl.learners.means import input_kind
from merlin_cl.paper.published import Published, published, view_of
from merlin_cl.protocol import Inference, StreamInfo, View

Kind = Literal["scores", "curves", "sizes", "losses", "priors"]
ORDER = (
    "main",
    "variants",
    "ensemble",
    "params",
    "chunk",
    "memory",
    "clf-loss",
    "vae-loss",
    "priors",
    "taskwise",
    "cndpm-prior",
    "additional",
    "small-backbone",
    "20-tasks",
)
"""As they come in the paper."""


@dataclass(frozen=True)
class Line:
    """A method, as it is set in one row of a table; it may answer in several ways."""

    method: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    photographs: dict[str, Any] = field(default_factory=dict)
    """Settings on CIFAR and mini-ImageNet besides: there the paper gives its rivals another network, and one update a batch where
    methods here share more."""
    inferences: tuple[Inference | None, ...] = (None,)
    param: dict[str, Any] = field(default_factory=dict)
    """What the published numbers of this row are found by, beside the method."""
    alone: bool = False
    """Whether its runs answer in the row's way alone: of an ablation nothing else is asked, and answers are most of its price."""
    skip: tuple[str, ...] = ()
    """Streams that the row is not for."""
    why: str = ""
    """Why the paper's number is not reached, as far as it is known."""
    reference: bool = False
    """Whether the other rows are compared with this one, seed by seed."""

    @property
    def title(self) -> str:
        """What a reader calls the row."""
        return self.label or self.method

    def besides(self, stream: StreamInfo) -> dict[str, Any]:
        """What the row has on a stream beside its `settings`."""
        return self.photographs if input_kind(stream) == "photographs" else {}


@dataclass(frozen=True)
class Experiment:
    """A table or a figure."""

    name: str
    title: str
    where: str
    streams: tuple[str, ...]
    lines: tuple[Line, ...]
    kind: Kind = "scores"
    table: str = ""
    """Where its numbers are in tables.json; `{stream}` stands for the stream."""
    measures: tuple[str, ...] = ()
    """What is measured, by the names it has there."""
    notes: tuple[str, ...] = ()

    def published(self, line: Line, stream: str, measure: str, **param: Any) -> Published | None:
        """The paper's number, None where it has none."""
        table = self.table.format(stream=stream)
        return published(table, line.method, stream, measure, **line.param, **param) if table else None


def view_for(stream: str, inference: Inference | None) -> View:
    """The view under which a line is scored: the paper's, but who is told the task chooses among its classes."""
    view = view_of(stream)
    return "task-masked" if inference == "aware" and view == "class-incremental" else view


def experiment_names() -> list[str]:
    """All tables and figures, in the paper's order."""
    return list(ORDER)


@functools.cache
def experiment(name: str) -> Experiment:
    """A table or figure by its name.

    >>> experiment("memory").where, len(experiment("memory").lines)
    ('Table 6', 16)
    """
    if name not in ORDER:
        raise unknown("table or figure", name, [*ORDER, "all"])
    text = files(__package__).joinpath("experiments", f"{name}.toml").read_text("utf-8")
    record = tomllib.loads(text)
    lines = tuple(_of(Line, line) for line in record.pop("lines"))
    read: Experiment = _of(Experiment, {"name": name, "lines": lines, **record})
    return read


def _of(kind: Any, record: dict[str, Any]) -> Any:
    """A dataclass from a table, lists as tuples."""
    known = {field.name for field in fields(kind)}
    assert set(record) <= known, sorted(set(record) - known)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})
