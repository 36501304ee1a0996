"""Features of inputs, whatever computes them: in batches, with a progress bar, and from the disk where they are known."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.features.cache import FEWEST, ROWS, Cache, Raw, digests
from merlin_cl.features.kinds import computer, title
from merlin_cl.features.names import is_file_name, made
from merlin_cl.features.raw import WORDS, RawForm, as_raw

LARGEST = 16_384
"""Features of an input at most; with more, a covariance of them alone would take a gigabyte."""

MOST_KEPT = 16
"""Objects whose features `kept` remembers."""
_made: dict[int, Features] = {}

Listener = Callable[[int, int], None]
"""Told how many inputs have been done, and of how many."""
_listener: ContextVar[Listener | None] = ContextVar("listener of features", default=None)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell somebody how far features have been computed, in place of a bar on the terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@dataclass(frozen=True)
class FeaturesNote:
    """What a saved learner and a run keep of its features: enough to ask for them again, and to know them when they come."""

    name: str
    checksum: str
    kind: str
    """Of inputs: text, bytes or numbers."""
    shape: tuple[int, ...]
    """Of one input; a text has none."""

    @property
    def form(self) -> RawForm:
        """The form of inputs."""
        return RawForm(self.kind, self.shape)  # type: ignore[arg-type]  # a note that was read has been checked

    def record(self) -> dict[str, Any]:
        """The same as JSON."""
        return {**asdict(self), "shape": list(self.shape)}

    @classmethod
    def read(cls, record: Mapping[str, Any] | None) -> FeaturesNote | None:
        """The note that a record was made of, if there is one; whoever reads a file has checked its form."""
        return None if record is None else cls(**{**record, "shape": tuple(record["shape"])})


class Features:
    """What computes features, by a name or as it is.

    >>> import numpy as np
    >>> double = Features(lambda x: 2 * x, cache=False)
    >>> double(np.eye(2)).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(
        self,
        source: Any,
        *,
        name: str = "",
        batch_size: int = 64,
        cache: bool | str | Path = True,
        device: str = "cpu",
    ) -> None:
        """`source`: a `torch.nn.Module`, a function of a list of texts or an array [n, ...], a fitted scikit-learn transformer,
        an object with `encode`, the path of an .onnx file, or a name: one of `feature_names()` or `package.module:factory`.

        A module and an ONNX graph see bytes as numbers from 0 to 1, a function and a transformer as they are. `name` is what
        saved learners call it. `cache`: whether features are kept on disk, or in which folder. `device`: where a module computes.
        """
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
            raise UsageError(f"batch_size of features is {batch_size!r}; it must be a whole number of at least 1.")
        self.source, self.batch_size, self.device = source, batch_size, device
        named = isinstance(source, str) and not is_file_name(source)
        self.name = name or (source if named else title(source))
        self._compute, self.checksum = computer(made(source) if named else source, device)
        self._cache = (
            None if cache is False else Cache(self.checksum, None if cache is True else Path(cache).expanduser())
        )
        self._sizes: dict[RawForm, int] = {}

    @classmethod
    def of(cls, source: Any) -> Features:
        """Features as they are given: already made, or anything that makes them."""
        if isinstance(source, cls):
            return source
        return cls.named(source) if isinstance(source, str) else cls(source)

    @classmethod
    def named(cls, name: str) -> Features:
        """Features of a name, made once however often they are asked for."""
        return _named(name)

    @classmethod
    def kept(cls, source: Any) -> Features:
        """The same, for whoever asks often: of one object they are made once."""
        if isinstance(source, cls | str):
            return cls.of(source)
        made = _made.get(id(source))
        if made is None or made.source is not source:
            while len(_made) >= MOST_KEPT:
                _made.pop(next(iter(_made)))
            made = _made[id(source)] = cls(source)
        return made

    def __repr__(self) -> str:
        return f"Features({self.name!r}, checksum {self.checksum})"

    def __call__(self, X: Any) -> Tensor:
        """The features of inputs, float [N, size]: X is a list of texts, or an array or tensor [N, ...]."""
        return self.of_raw(as_raw(X))

    def size(self, form: RawForm) -> int:
        """How many features an input of this form has."""
        if form not in self._sizes:
            self._batch(form.blank(), 0)
        return self._sizes[form]

    def note(self, form: RawForm) -> FeaturesNote:
        """What is kept of them beside what was learned from inputs of a form."""
        return FeaturesNote(self.name, self.checksum, form.kind, form.shape)

    def of_raw(self, inputs: Raw) -> Tensor:
        """The same of inputs whose form is settled."""
        if self._cache is None or len(inputs) < FEWEST:
            return self._computed(inputs, range(len(inputs)), None)
        keys = digests(inputs)
        known = self._cache.find(keys)
        first = {key: at for at, key in reversed(list(enumerate(keys)))}  # equal inputs are computed once
        wanted = [at for at in sorted(first.values()) if keys[at] not in known]
        if wanted:
            computed = self._computed(inputs, wanted, keys)
            known |= {keys[at]: row for at, row in zip(wanted, computed, strict=True)}
        self._sizes[RawForm.of(inputs)] = len(known[keys[0]])
        return torch.stack([known[key] for key in keys])

    def _computed(self, inputs: Raw, wanted: Sequence[int], keys: Sequence[bytes] | None) -> Tensor:
        """Features of the inputs at some positions, in batches; with keys, kept on disk every so often."""
        done: list[Tensor] = []
        kept = 0
        with _progress(len(wanted)) as tell:
            for start in range(0, len(wanted), self.batch_size):
                some = wanted[start : start + self.batch_size]
                batch = inputs[torch.tensor(some)] if isinstance(inputs, Tensor) else [inputs[at] for at in some]
                done.append(self._batch(batch, start))
                count = start + len(some)
                if keys is not None and self._cache is not None and (count - kept >= ROWS or count == len(wanted)):
                    self._cache.keep([keys[at] for at in wanted[kept:count]], torch.cat(done)[kept:])
                    done, kept = [torch.cat(done)], count
                tell(count, len(wanted))
        return torch.cat(done)

    def _batch(self, batch: Raw, start: int) -> Tensor:
        """Features of a few inputs, checked."""
        features = self._compute(batch)
        try:
            x = torch.as_tensor(features if isinstance(features, Tensor) else _array(features)).float()
        except (TypeError, ValueError, RuntimeError):
            raise UsageError(
                f"The features {self.name} of {len(batch)} inputs are a {type(features).__name__} that is no array of numbers; "
                "give [inputs, features]."
            ) from None
        if x.dim() == 0 or len(x) != len(batch):
            raise UsageError(
                f"The features {self.name} of {len(batch)} inputs have shape {list(x.shape)}; give a row for every input."
            )
        x = x.reshape(len(x), -1)
        form = RawForm.of(batch)
        size = self._sizes.setdefault(form, x.shape[1])
        if x.shape[1] != size:
            raise UsageError(
                f"The features {self.name} have {x.shape[1]} numbers and had {size} before; give as many always."
            )
        if not 1 <= size <= LARGEST:
            raise UsageError(
                f"The features {self.name} have {size:,} numbers an input; 1 to {LARGEST:,} can be learned from: choose fewer."
            )
        if not bool(torch.isfinite(x).all()):
            at = start + int((~torch.isfinite(x)).any(dim=1).nonzero()[0])
            raise InputError(
                f"The features {self.name} of input {at} are not finite; look at that input, or at what computes them."
            )
        return x


@cache
def _named(name: str) -> Features:
    return Features(name)


def trusted(note: FeaturesNote | None, given: Any, place: str) -> None:
    """Refuse a file whose reader gives no features, or others than the file wants; nothing that the file names is imported."""
    if note is None:
        if given is not None:
            raise UsageError(f"{place} was learned from inputs as they are; load it without features.")
        return
    if given is None:
        raise UsageError(
            f"{place} was learned from the features {note.name!r} of {WORDS[note.form.kind]}, checksum {note.checksum}, which it "
            f"does not hold; if you trust what computes them, say so: load it with features={note.name!r}, or with the object."
        )
    features = Features.kept(given)
    if features.checksum != note.checksum:
        raise UsageError(
            f"{place} was learned from the features {note.name!r} with the checksum {note.checksum}; {features.name!r} has "
            f"{features.checksum}: give the very code and weights that it was learned with."
        )


def _array(features: Any) -> Any:
    import numpy as np

    array = np.asarray(features)
    if array.dtype.kind not in "biuf":
        raise TypeError
    return np.ascontiguousarray(array, dtype=np.float32)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Listener]:
    """Whoever listens, or a bar where somebody watches the terminal and there is more than a moment's work."""
    told = _listener.get()
    if told is not None or total < FEWEST or not sys.stderr.isatty():
        yield told or (lambda done, total: None)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("features", total=total)
        yield lambda done, total: bar.update(task, completed=done)
