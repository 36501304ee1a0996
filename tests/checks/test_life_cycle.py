"""Every learner passes the battery, and the battery fails learners that break its rules."""

import copy
import dataclasses
import gc
import math
import weakref

import pytest
import torch
from rival_cases import RIVALS

from merlin_cl import checks
from merlin_cl.checks import CHECKS, check_learner, clouds, hard_cases, life_cycle
from merlin_cl.checks.hard_cases import HARD_CASES, many_classes_one_by_one
from merlin_cl.errors import UsageError
from merlin_cl.learners import registry
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.lookup.settings import LookupSettings
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.registry import method_names
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.learners.rivals.single import Single
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.runs.checkpoint import Checkpoints
from merlin_cl.tensors import MASKED, as_float

pytestmark = pytest.mark.usefixtures("short_fits")
SMALL_ENSEMBLE = {"hidden_units": (8,), "exemplars": 12, "models": 3, "fine_tune_rate": 1e-2}
SMALL_BASE = {"learning_rate": 2e-2, "updates_per_batch": 3, "replay": 4, "rehearse": 4}
SMALL_MERLIN = MerlinSettings(**SMALL_ENSEMBLE, **SMALL_BASE, base_models=3, latent=80, start="psi_0")
TIGHT = dataclasses.replace(SMALL_MERLIN, base_models=8, memory=1)
"""With a kilobyte for all tasks, of which the first alone would have half."""
PAPER = MerlinPaperSettings(
    hidden_units=(16,), base_models=2, exemplars=12, models=3, fine_tune_epochs=100, chunk=10, hidden=8, vae_epochs=2
)
CASES = {
    "single": SingleSettings(hidden_units=(8,), updates_per_batch=5, learning_rate=2e-2),
    **RIVALS,
    "gdumb-ensemble": GDumbEnsembleSettings(**SMALL_ENSEMBLE),
    "gdumb-ensemble random": GDumbEnsembleSettings(**SMALL_ENSEMBLE, exemplar_choice="random", vote="majority"),
    "gdumb-ensemble balanced": GDumbEnsembleSettings(**SMALL_ENSEMBLE, exemplar_choice="balanced", vote="agreement"),
    "merlin": SMALL_MERLIN,
    "merlin from the task before": dataclasses.replace(SMALL_MERLIN, start="consolidated"),
    "merlin without replay": dataclasses.replace(SMALL_MERLIN, replay=0, rehearse=0),
    "merlin in a kilobyte": TIGHT,
    "merlin cut": dataclasses.replace(TIGHT, consolidation="cut"),
    "merlin without the oldest": dataclasses.replace(TIGHT, consolidation="oldest"),
    "merlin-paper": PAPER,
    "merlin-paper code": dataclasses.replace(PAPER, reading="code"),
    "merlin-paper auxiliary loss": dataclasses.replace(PAPER, classification_loss=True),
    "merlin-paper standard-normal": dataclasses.replace(PAPER, prior="standard-normal"),
    "lookup": LookupSettings(**{**SMALL_ENSEMBLE, **SMALL_BASE, "models": 1}, task_kilobytes=0.2),
}


def test_every_method_is_in_the_battery():
    assert {settings.method for settings in CASES.values()} >= set(method_names())


FIRST = {settings.method: case for case, settings in reversed(CASES.items())}
OWN = {
    "same_seed_same_result",
    "restored_equals_uninterrupted",
    "grows_or_says_that_it_cannot",
    "answers_within_a_task",
    "learns_the_first_task",
    "exemplars_within_budget",
}
"""What further cases of a method are tried on: where its own state and training have a say. The first is tried on all."""
TRIED = [
    (case, check) for case in CASES for check in checks.LIFE_CYCLE if case in FIRST.values() or check.__name__ in OWN
]


@pytest.mark.parametrize(("case", "check"), TRIED, ids=lambda part: getattr(part, "__name__", part))
def test_battery(case, check):
    check(CASES[case])


def test_a_copy_answers_for_itself_when_the_original_is_gone():
    learner = clouds.learned(CASES["merlin"].build(clouds.STREAM, seed=0))
    x, _ = clouds.examples(clouds.TASKS[0])
    answer, twin = learner.probabilities(x), copy.deepcopy(learner)
    del learner
    assert torch.equal(twin.probabilities(x), answer)


@pytest.mark.parametrize("case", ["merlin", "merlin-paper", "lookup", "er"])
def test_a_learner_that_is_dropped_is_freed_at_once(case):
    learner = CASES[case].build(clouds.STREAM, seed=0)
    clouds.learn(learner, clouds.TASKS[0])
    learner.probabilities(clouds.examples(clouds.TASKS[0])[0])
    gc.collect()
    gc.disable()  # so that only what nothing refers to is freed
    try:
        alive = weakref.ref(learner)
        del learner
        assert alive() is None
    finally:
        gc.enable()


def brisk(settings, **less):
    """The same with less work, where only finite answers are asked for."""
    less |= {"epochs": 1, "updates_per_batch": 1, "fine_tune_epochs": 2, "learning_rate": 1e-2}
    if settings.method in ("merlin", "merlin-paper"):
        less |= {"vae_epochs": 1, "base_models": 2, "models": 2, "chunk": 100}
    return dataclasses.replace(settings, **{name: value for name, value in less.items() if hasattr(settings, name)})


@pytest.mark.parametrize(
    "check", [check for check in HARD_CASES if check is not many_classes_one_by_one], ids=lambda check: check.__name__
)
@pytest.mark.parametrize("case", [*FIRST.values(), "merlin in a kilobyte"])
def test_hard_cases(case, check):
    check(brisk(CASES[case]))


ONE_OF_EACH = FIRST | {
    "merlin": "merlin cut",  # all of them share a kilobyte
    "ewc": "ewc online",  # whose Fisher information is not a sum over all classes
}


@pytest.mark.parametrize("case", [*ONE_OF_EACH.values()])
def test_many_classes_one_by_one(case):
    less = {"vae": "untrained"} if CASES[case].method == "merlin-paper" else {"consolidation": "cut"}
    many_classes_one_by_one(brisk(CASES[case], **less), classes=101)  # the shipped check's 200 take four times as long


class Unseeded(Single):
    def _begin(self, task):
        self.bank.weights += torch.rand(()) * 0.1


class Forgetful(Single):
    def _state(self):
        return {**super()._state(), "training": {"step": torch.zeros(())}}

    def _restore(self, state):
        self.bank.weights.copy_(state["weights"])


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
        self.bank.weights *= 1.01
        return answers


class Lost(Single):
    """Divides by how far the examples of a batch are apart."""

    def _observe(self, x, y):
        self.bank.weights /= x.std(dim=0).mean()


class OneByOne(Single):
    """Compares an example with the next."""

    def _update(self, x, y):
        super()._update((x[1:] - x[:-1]).nan_to_num(), y[1:])


class Sworn(Single):
    """Takes no class twice."""

    def _begin(self, task):
        if set(task.classes) & {label for other in self.tasks[:-1] for label in other.classes}:
            raise UsageError("A class is learned once; leave it out.")


class Small(Single):
    """Keeps a table of the classes there may be."""

    def _begin(self, task):
        torch.zeros(100)[list(task.classes)]


class Sorting(Single):
    """Counts its inputs by their size."""

    def _update(self, x, y):
        torch.zeros(1000)[x.abs().amax().long()] += 1


class Silent(Single):
    """Does not say what it stores."""

    def stored_bytes(self):
        return {}


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Unseeded, life_cycle.same_seed_same_result),
        (Forgetful, life_cycle.restored_equals_uninterrupted),
        (Peeking, life_cycle.task_is_not_needed_or_guessed_from_the_batch),
        (Prophet, life_cycle.no_class_before_its_time),
        (Swayed, life_cycle.answering_changes_nothing),
        (Lost, hard_cases.one_example),
        (Lost, hard_cases.equal_inputs),
        (OneByOne, hard_cases.batches_of_one),
        (Sworn, hard_cases.classes_that_come_back),
        (Small, hard_cases.many_classes_one_by_one),
        (Sorting, hard_cases.inputs_of_any_size),
        (Silent, hard_cases.states_what_it_stores),
    ],
)
def test_the_battery_catches(broken, check):
    class Settings(SingleSettings):
        def build(self, stream, seed, device="cpu"):
            return broken(stream, self, seed, device)

    settings = Settings(hidden_units=(8,), updates_per_batch=5, learning_rate=2e-2)
    with pytest.raises(AssertionError, match=r"\.$"):
        check(settings)
    with pytest.raises(AssertionError, match=rf"^single fails 1 of the battery's checks\.\n{check.__name__}: .*\.$"):
        check_learner(settings, [check])


class WithPointer(Single):
    """Keeps in its state what no file holds."""

    def _state(self):
        return {**super()._state(), "network": self.network}


@pytest.mark.parametrize(
    ("broken", "check", "said"),
    [
        (
            Forgetful,
            life_cycle.restored_equals_uninterrupted,
            "taken within task 0, after 2 of its 5 batches, and then taught",
        ),
        (WithPointer, life_cycle.restored_equals_uninterrupted, "/method/network is a MLP; a state holds tensors"),
        (Prophet, life_cycle.no_class_before_its_time, r"Classes \[2, 3, 4, 5, 6\] can be answered after task 0"),
    ],
)
def test_it_says_what_it_did(broken, check, said):
    class Settings(SingleSettings):
        def build(self, stream, seed, device="cpu"):
            return broken(stream, self, seed, device)

    with pytest.raises(AssertionError, match=said):
        check(Settings(hidden_units=(8,), updates_per_batch=5, learning_rate=2e-2))


class Usual(Learner):
    """A module and an optimiser of torch's, and the last batches in a list: what somebody writes who starts from scratch."""

    def __init__(self, stream, settings, seed, device="cpu"):
        super().__init__(stream, settings, seed, device)
        torch.manual_seed(seed)
        self.module = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(math.prod(stream.input_shape), stream.classes)
        )
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=0.1)
        self.recent = []

    def _begin(self, task):
        self.recent.clear()

    def _observe(self, x, y):
        self.recent.append(y.clone())
        for _ in range(5):
            self.optimiser.zero_grad()
            torch.nn.functional.cross_entropy(self.module(as_float(x)), y).backward()
            self.optimiser.step()

    def _end(self):
        pass

    @torch.no_grad()
    def _answers(self, x, allowed, task, inference):
        return torch.where(allowed[:, None, :], self.module(as_float(x)), MASKED)

    def _state(self):
        copies = {name: value.clone() for name, value in self.module.state_dict().items()}
        return {"module": copies, "optimiser": self.optimiser.state_dict(), "recent": list(self.recent)}

    def _restore(self, state):
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.recent = list(state["recent"])

    def stored_bytes(self):
        return {"classifier": 4 * sum(value.numel() for value in self.module.parameters())}


@dataclasses.dataclass(frozen=True)
class UsualSettings(MethodSettings):
    method = "usual"
    learner = f"{__name__}:Usual"


def test_modules_optimisers_and_lists_of_tensors_may_be_kept():
    check_learner(UsualSettings(), [check for check in CHECKS if check is not many_classes_one_by_one])


def test_they_may_be_saved_and_go_on_from_a_file_or_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.BUILT_IN, "usual", f"{__name__}:UsualSettings")
    steps = list(clouds.steps())
    for cut in (0, 3, clouds.STEPS):  # before anything, within a task, after it
        whole, interrupted = (UsualSettings().build(clouds.STREAM, seed=3) for _ in range(2))
        for step in steps:
            step(whole)
        for step in steps[:cut]:
            step(interrupted)
        loaded = Learner.load(interrupted.save(tmp_path / f"{cut}.safetensors"))
        resumed = UsualSettings().build(clouds.STREAM, seed=3)
        checkpoints = Checkpoints(tmp_path / str(cut), "usual")
        checkpoints.folder.mkdir()
        checkpoints.save(1, interrupted.state())
        resumed.restore(checkpoints.latest().state)
        for learner in (loaded, resumed):
            for step in steps[cut:]:
                step(learner)
            assert torch.equal(learner.logits(clouds.everything()[0]), whole.logits(clouds.everything()[0]))
