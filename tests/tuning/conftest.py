import dataclasses
from typing import ClassVar

import pytest

from merlin_cl.learners import registry
from merlin_cl.learners.search_space import Among, Span
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tuning.plan import Plan
from runs.fakes import Means, MeansSettings


@dataclasses.dataclass(frozen=True)
class SearchedSettings(MeansSettings):
    """The nearest mean with noise: less noise is better, and too much of it is an error."""

    method: ClassVar[str] = "searched"
    learner: ClassVar[str] = f"{__name__}:Searched"
    space: ClassVar = {"noise": Span(0.01, 30), "exemplars": Among(7, 8)}


class Searched(Means):
    def _begin(self, task):
        if self.settings.noise > 10:
            raise ValueError("too much noise")


@pytest.fixture(autouse=True)
def known_method(monkeypatch):
    monkeypatch.setattr(
        registry, "BUILT_IN", {**registry.BUILT_IN, "searched": f"{SearchedSettings.__module__}:SearchedSettings"}
    )


@pytest.fixture
def plan():
    """The shortest search there is."""
    stream = stream_settings("split-mnist")(tasks=3, images_per_task=20, evaluation="held-out")
    return Plan(SearchedSettings, stream, seeds=(7, 8))


class Silence:
    def update(self, text, done, total):
        pass

    def say(self, text):
        pass


@pytest.fixture
def silence():
    return Silence()
