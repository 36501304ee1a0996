"""What a saved learner is: the learner with its random state, and what its user calls its classes, tasks and columns."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from merlin_cl import __version__
from merlin_cl.errors import MerlinError
from merlin_cl.features import FeaturesNote, trusted
from merlin_cl.features.raw import RawForm
from merlin_cl.inputs.encoding import TableEncoding
from merlin_cl.inputs.standardisation import Standardisation
from merlin_cl.learners.devices import usable_device
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.retired import without_retired
from merlin_cl.learners.saving import format as file_format
from merlin_cl.learners.saving.allocation import BoundedTensors
from merlin_cl.learners.saving.header import Header, require_form, require_savable, require_size, require_trust
from merlin_cl.learners.saving.trial import require_finite, restored, tensor_bytes
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State

Label = str | int | float | bool


@dataclass(frozen=True)
class Inputs:
    """The form of inputs, as far as a learner does not know it."""

    bytes: bool
    """Whether they are uint8; otherwise float."""
    columns: tuple[str, ...] = ()
    """Names of a table's columns, in order."""
    standardisation: Standardisation | None = None
    """What numbers were standardised by before the learner saw them."""
    note: FeaturesNote | None = None
    """Which features the learner sees in place of inputs."""
    encoding: TableEncoding | None = None
    """How a table with texts becomes numbers."""
    fill: bool = False
    """Whether numbers may be missing: whoever asks the learner fills them in."""

    def form(self, shape: tuple[int, ...]) -> RawForm:
        """What inputs look like to a user, where the learner sees such of a shape: as they do to it, unless it sees features."""
        return RawForm("bytes" if self.bytes else "numbers", shape) if self.note is None else self.note.form


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

    def header(self) -> Header:
        """All but tensors and random state."""
        learner = self.learner
        return {
            "merlin_cl": __version__,
            "method": learner.settings.method,
            "settings": learner.settings.record(),
            "stream": asdict(learner.stream),
            "seed": learner.seed,
            "classes": list(self.classes),
            "tasks": list(self.tasks),
            "inputs": {"bytes": self.inputs.bytes, "columns": list(self.inputs.columns)}
            | ({"features": self.inputs.note.record()} if self.inputs.note else {})
            | _categories(self.inputs),
            "extra": self.extra,
        }

    def state(self) -> State:
        """Tensors and random state."""
        standardised = self.inputs.standardisation
        numbers = {} if standardised is None else {"mean": standardised.mean, "deviation": standardised.deviation}
        return {"learner": self.learner.state(), "standardisation": numbers, "extra": self.extra_state}

    def save(self, path: str | Path) -> Path:
        """Write it to a file, whole or not at all; a learner that has diverged says so instead."""
        self.learner.require_finite("learning")
        header, state = file_format.as_read(self.header()), self.state()
        require_savable(header, self.learner.stream, self.learner.settings, tensor_bytes(state))
        return file_format.write(path, header, state)

    @classmethod
    def load(cls, path: str | Path, *, network: Any = None, features: Any = None, device: str = "cpu") -> Self:
        """The learner in a file. `network` names a network of the user's own, if the learner has one, and `features` is what
        computes its features, or the name of that: a file names both, but nothing that it names is imported."""
        header, state = file_format.read(path)
        return cls.made(header, state, str(path), network, device, features)

    @classmethod
    def made(
        cls,
        header: Header,
        state: State,
        place: str,
        network: Any = None,
        device: str = "cpu",
        features: Any = None,
    ) -> Self:
        """From what a file holds. Nothing is imported that its reader does not name, nothing larger made than the file can be
        about, and the learner is tried: what is no learner is refused here, in one sentence, and not later."""
        usable_device(device)
        try:
            require_form(header)
            require_trust(header, network, place)
            note = FeaturesNote.read(header["inputs"].get("features"))
            trusted(note, features, place)
            record = without_retired(place, header["method"], header["settings"])
            settings = method_settings(header["method"]).from_record(record)
            stream = StreamInfo(**{**header["stream"], "input_shape": tuple(header["stream"]["input_shape"])})
            content = tensor_bytes(state)
            require_size(stream, settings, content)
            if set(state) != {"learner", "standardisation", "extra"}:
                raise ValueError("its state has other parts")
            learner = _restored(settings, stream, header, device, state["learner"], content)
            if len(header["tasks"]) != len(learner.tasks):
                raise ValueError(f"{len(header['tasks'])} names for {len(learner.tasks)} tasks")
            require_finite(state)
            inputs = Inputs(
                header["inputs"]["bytes"],
                tuple(header["inputs"]["columns"]),
                _standardisation(state["standardisation"], stream.input_shape),
                note,
                _encoding(header["inputs"], stream.input_shape),
            )
            classes, tasks = tuple(header["classes"]), tuple(header["tasks"])
            return cls(learner, classes, tasks, inputs, header["extra"], state["extra"])
        except MerlinError:
            raise
        except Exception as error:  # the checksum is right, but the content is not what a learner saves
            raise file_format.damaged(place, error) from None


def _restored(
    settings: MethodSettings, stream: StreamInfo, header: Header, device: str, state: State, content: int
) -> Learner[Any]:
    """The learner that a state was taken from, tried within the memory that a file with so many bytes of tensors may take."""
    try:
        with BoundedTensors(content):
            return restored(settings, stream, header["seed"], device, state, header["inputs"]["bytes"])
    except MerlinError as error:  # what a learner is asked here, no user asked for
        raise ValueError(str(error)) from None


def _categories(inputs: Inputs) -> dict[str, Any]:
    return {} if inputs.encoding is None else {"categories": inputs.encoding.record()}


def _encoding(inputs: Header, shape: tuple[int, ...]) -> TableEncoding | None:
    """How texts become numbers, as a file has it, if it has any."""
    if "categories" not in inputs:
        return None
    encoding = TableEncoding.from_record(inputs["columns"], inputs["categories"])
    if (encoding.width,) != shape:
        raise ValueError(f"its columns make inputs of {encoding.width} numbers, where its learner takes {list(shape)}")
    return encoding


def _standardisation(state: State, shape: tuple[int, ...]) -> Standardisation | None:
    """Mean and deviation as a file has them, if it has any."""
    if not state:
        return None
    standardisation = Standardisation(**state)
    if not all(
        isinstance(value, Tensor) and value.shape == shape and value.dtype == torch.float64
        for value in (standardisation.mean, standardisation.deviation)
    ):
        raise ValueError("its standardisation is not one of its inputs")
    if not bool((standardisation.deviation > 0).all()):
        raise ValueError("its standardisation divides by what is not positive")
    return standardisation
