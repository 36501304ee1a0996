"""What a saved learner is: the learner with its random state, and what its user calls its classes, tasks and columns."""

import math
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.learner import Learner, State
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.saving import format as file_format
from merlin_cl.streams.own.standardisation import Standardisation

Label = str | int | float | bool
LARGEST = {"classes": 10**6, "tasks": 10**5, "numbers in an input": 10**8, "units of a layer": 10**6}
"""What no learner of ours has: a file that asks for more is refused before memory is asked for."""


@dataclass(frozen=True)
class Inputs:
    """The form of inputs, as far as a learner does not know it."""

    bytes: bool
    """Whether they are uint8; otherwise float."""
    columns: tuple[str, ...] = ()
    """Names of a table's columns, in order."""
    standardisation: Standardisation | None = None
    """What numbers were standardised by before the learner saw them."""


@dataclass(frozen=True)
class SavedLearner:
    """A learner, ready to be asked and taught."""

    learner: Learner[Any]
    classes: tuple[Label, ...]
    """What the user calls the class of every output."""
    tasks: tuple[str | int, ...]
    """What the user calls every task begun so far."""
    inputs: Inputs
    extra: dict[str, Any] = field(default_factory=dict)
    """What the door through which it was saved wants to find again, as JSON."""
    extra_state: State = field(default_factory=dict)
    """The same with tensors."""

    def header(self) -> file_format.Header:
        """All but tensors and random state."""
        learner = self.learner
        return {
            "merlin_cl": version("merlin-cl"),
            "method": learner.settings.method,
            "settings": learner.settings.record(),
            "stream": asdict(learner.stream),
            "seed": learner.seed,
            "classes": list(self.classes),
            "tasks": list(self.tasks),
            "inputs": {"bytes": self.inputs.bytes, "columns": list(self.inputs.columns)},
            "extra": self.extra,
        }

    def state(self) -> State:
        """Tensors and random state."""
        standardised = self.inputs.standardisation
        numbers = {} if standardised is None else {"mean": standardised.mean, "deviation": standardised.deviation}
        return {"learner": self.learner.state(), "standardisation": numbers, "extra": self.extra_state}

    def save(self, path: str | Path) -> Path:
        """Write it to a file, whole or not at all."""
        return file_format.write(path, self.header(), self.state())

    @classmethod
    def load(cls, path: str | Path, *, network: str | None = None, device: str = "cpu") -> Self:
        """The learner in a file. `network` names a network of the user's own, if the learner has one: loading it runs it."""
        header, state = file_format.read(path)
        return cls.made(header, state, str(path), network, device)

    @classmethod
    def made(
        cls, header: file_format.Header, state: State, place: str, network: str | None = None, device: str = "cpu"
    ) -> Self:
        """From what a file holds."""
        try:
            kind = method_settings(str(header["method"]))
            settings = _settings(kind, header["settings"])
            _require_trust(settings, network, place)
            info = header["stream"]
            stream = StreamInfo(**{**info, "input_shape": tuple(info["input_shape"])})
            _require_plausible(stream, settings)
            learner = settings.build(stream, int(header["seed"]), device)
            learner.restore(state["learner"])
            classes, tasks = tuple(header["classes"]), tuple(header["tasks"])
            if len(classes) != stream.classes or len(tasks) != len(learner.tasks):
                raise ValueError("its header does not fit its learner")
            numbers, form = state["standardisation"], header["inputs"]
            standardisation = Standardisation(**numbers) if numbers else None
            inputs = Inputs(bool(form["bytes"]), tuple(form["columns"]), standardisation)
            return cls(learner, classes, tasks, inputs, header["extra"], state["extra"])
        except MerlinError:
            raise
        except Exception as error:  # the checksum is right, but the content is not what a learner saves
            raise file_format.damaged(place, error) from None


def _settings(kind: type[MethodSettings], record: dict[str, Any]) -> MethodSettings:
    strangers = sorted(set(record) - {entry.name for entry in fields(kind)})
    if strangers:
        raise ValueError(f"{kind.method} has no setting {strangers[0]!r}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})


def _require_trust(settings: MethodSettings, network: str | None, place: str) -> None:
    """A network of the user's own is code that the file only names: it is imported for those alone who name it, too."""
    named = str(getattr(settings, "network", ""))
    if ":" in named and network != named:
        raise UsageError(
            f"{place} has the network {named!r}, which is code outside this package; if you trust it, say so: load it with "
            f"network={named!r}."
        )


def _require_plausible(stream: StreamInfo, settings: MethodSettings) -> None:
    found = {
        "classes": stream.classes,
        "tasks": stream.tasks,
        "numbers in an input": math.prod(stream.input_shape),
        "units of a layer": max(getattr(settings, "hidden_units", ()), default=1),
    }
    for name, number in found.items():
        if not 1 <= number <= LARGEST[name]:
            raise ValueError(f"{number} {name}")
