"""Every learner passes the battery, and the battery fails learners that break its rules."""

import dataclasses

import pytest
import torch
from rival_cases import RIVALS

from merlin_cl import battery
from merlin_cl.learners.control_settings import GDumbEnsembleSettings, SingleSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.registry import method_names
from merlin_cl.learners.single import Single

SMALL_ENSEMBLE = {"hidden_units": (8,), "exemplars": 12, "models": 3, "fine_tune_rate": 1e-2}
SMALL_MERLIN = MerlinSettings(
    **SMALL_ENSEMBLE, base_models=3, learning_rate=2e-2, updates_per_batch=5, averaging=0.5,
    replay=4, chunk=10, rank=2, hidden=8, vae_steps=20,
)  # fmt: skip
CHUNKS = dataclasses.replace(
    SMALL_MERLIN, decoder="chunks", precision="float16", latent=4, hidden=16, embedding=8, vae_steps=60, vae_rate=1e-2
)
PAPER = dataclasses.replace(
    MerlinSettings.preset("paper", battery.STREAM), **SMALL_ENSEMBLE, base_models=2, chunk=10, vae_epochs=2
)
CASES = {
    "single": SingleSettings(hidden_units=(8,), updates_per_batch=5, learning_rate=2e-2),
    **RIVALS,
    "gdumb-ensemble": GDumbEnsembleSettings(**SMALL_ENSEMBLE),
    "gdumb-ensemble random": GDumbEnsembleSettings(**SMALL_ENSEMBLE, exemplar_choice="random", vote="majority"),
    "gdumb-ensemble balanced": GDumbEnsembleSettings(**SMALL_ENSEMBLE, exemplar_choice="balanced", vote="agreement"),
    "merlin": SMALL_MERLIN,
    "merlin chunks": CHUNKS,
    "merlin paper": PAPER,
    "merlin poisson": dataclasses.replace(SMALL_MERLIN, sampling="poisson", vote="sum-logits", aware_epochs=3),
    "merlin auxiliary loss": dataclasses.replace(SMALL_MERLIN, classification_loss=0.5),
    "merlin standard-normal": dataclasses.replace(SMALL_MERLIN, prior="standard-normal", aware_epochs=40),
}


def test_every_method_is_in_the_battery():
    assert {settings.method for settings in CASES.values()} >= set(method_names())


@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES)
def test_battery(case, check):
    check(CASES[case])


class Unseeded(Single):
    def _begin(self, task):
        self._bank.weights += torch.rand(()) * 0.1


class Forgetful(Single):
    def _state(self):
        return {**super()._state(), "training": {"step": torch.zeros(())}}

    def _restore(self, state):
        self._bank.weights.copy_(state["weights"])


class Peeking(Single):
    """Guesses the task from the batch."""

    def _answers(self, x, allowed, task, inference):
        return super()._answers(x - x.mean(dim=0), allowed, task, inference)


class Prophet(Single):
    def _answers(self, x, allowed, task, inference):
        return super()._answers(x, torch.ones_like(allowed), task, inference)


class Swayed(Single):
    """Learns from being asked."""

    def _answers(self, x, allowed, task, inference):
        answers = super()._answers(x, allowed, task, inference)
        self._bank.weights *= 1.01
        return answers


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Unseeded, battery.same_seed_same_result),
        (Forgetful, battery.restored_equals_uninterrupted),
        (Peeking, battery.task_is_not_needed_or_guessed_from_the_batch),
        (Prophet, battery.no_class_before_its_time),
        (Swayed, battery.answering_changes_nothing),
    ],
)
def test_the_battery_catches(broken, check):
    class Settings(SingleSettings):
        def build(self, stream, seed, device="cpu"):
            return broken(stream, self, seed, device)

    with pytest.raises(AssertionError):
        check(Settings(hidden_units=(8,), updates_per_batch=5, learning_rate=2e-2))
