"""Settings of a method: one frozen dataclass that is the Python signature, the command line and the record of a run.

Free of torch, so that `merlin run --help` answers at once; the learner itself is named by a string and imported when it is built.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from merlin_cl.errors import UsageError, unknown
from merlin_cl.learners.search_space import Space
from merlin_cl.learners.setting_values import from_record
from merlin_cl.learners.shortage import shortages_explained
from merlin_cl.learners.tuned import tuned_settings
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.learners.learner import Learner


@dataclass(frozen=True)
class MethodSettings:
    """Base of every method's settings. A subclass adds its fields and names its learner."""

    method: ClassVar[str]
    """The name on the command line."""
    learner: ClassVar[str]
    """Where the learner lives, as `package.module:Class`."""
    space: ClassVar[Space] = {}
    """Where `merlin tune` looks for settings; those that are not in it stay as they are."""
    ceiling: ClassVar[bool] = False
    """Whether it breaks the rules of the others by design, to show what could be reached: it is shown and never ranked."""
    moved_presets: ClassVar[Mapping[str, str]] = {}
    """Presets that are methods of their own, and which: `registry.preset_kind` leads from one to the other."""

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names that a user may give."""
        return ("default", *cls.moved_presets)

    @classmethod
    def preset(cls, name: str, stream: StreamInfo) -> Self:
        """The settings a preset stands for on a stream; `default` has those that a search chose for it, if there was one."""
        if name not in cls.presets():
            raise unknown(f"preset of {cls.method}", name, cls.presets())
        if name in cls.moved_presets:
            raise UsageError(f"The preset {name} of {cls.method} is a method of its own: {cls.moved_presets[name]}.")
        return replace(cls.untuned(stream), **tuned_settings(cls.method, stream.name))

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search."""
        return cls()

    def build(self, stream: StreamInfo, seed: int, device: str = "cpu") -> Learner[Self]:
        """A fresh learner with these settings."""
        module, _, name = self.learner.partition(":")
        kind = getattr(importlib.import_module(module), name)
        with shortages_explained(self, "being built"):
            learner: Learner[Self] = kind(stream, self, seed, device)
        return learner

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The settings that `record()` gave, or that a user wrote as JSON or TOML: names and types are checked."""
        return from_record(cls, record, cls.method)

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """The same with some settings changed, given as plain values: names and types are checked."""
        return from_record(type(self), {**self.record(), **changes}, self.method)

    def located(self) -> Self:
        """The same with paths that hold wherever the run is resumed from; for methods that have any."""
        return self

    def record(self) -> dict[str, Any]:
        """All settings as plain values, for the run folder."""
        return asdict(self)

    def require_at_least(self, least: float, *names: str) -> None:
        """Refuse settings below `least`, naming the first one found."""
        known = {field.name for field in fields(self)}
        for name in names:
            assert name in known, name
            value = getattr(self, name)
            if not isinstance(value, Real):
                raise UsageError(f"{name} is {value!r}; it must be a number.")
            if not float(value) >= least:
                raise UsageError(f"{name} is {value}; it must be at least {least}.")
            if value == math.inf:
                raise UsageError(f"{name} is {value}; it must be finite.")
