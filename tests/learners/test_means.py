"""Every method has the same means by default, by kind of input, and what is a method's own is named."""

import dataclasses

import pytest
import torch

from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.means import Means, input_kind, means_for, means_of
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.registry import BUILT_IN, method_settings
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

VECTORS = StreamInfo("table", (64,), classes=10, tasks=5)
DIGITS = StreamInfo("digits", (1, 28, 28), classes=10, tasks=5)
PHOTOGRAPHS = StreamInfo("photographs", (3, 32, 32), classes=10, tasks=5, mirrored=True)
SPECTROGRAMS = dataclasses.replace(PHOTOGRAPHS, mirrored=False)
RIVALS = [name for name in BUILT_IN if issubclass(method_settings(name), NetworkSettings)]


@pytest.mark.parametrize("stream", [VECTORS, DIGITS, PHOTOGRAPHS, SPECTROGRAMS], ids=input_kind)
@pytest.mark.parametrize("method", RIVALS)
def test_what_is_not_a_methods_own_is_the_same_for_all(method, stream):
    kind = method_settings(method)
    settings, shared = kind.preset("default", stream), dataclasses.asdict(means_for(stream, kind().optimiser))
    for name, value in shared.items():
        if hasattr(settings, name):
            expected = getattr(kind(), name) if name in kind.own_means else value
            assert getattr(settings, name) == expected, name


@pytest.mark.parametrize("method", BUILT_IN)
def test_own_means_are_means_and_settings(method):
    kind = method_settings(method)
    if issubclass(kind, NetworkSettings):
        assert kind.own_means <= {field.name for field in dataclasses.fields(Means)}
        assert kind.own_means <= {field.name for field in dataclasses.fields(kind)}


def test_every_method_that_trains_on_inputs_can_augment_them_and_say_what_it_keeps():
    for method in RIVALS:
        names = {field.name for field in dataclasses.fields(method_settings(method))}
        assert "augmentation" in names
        if "exemplars" in names:  # cn-dpm keeps what nobody explains, gss what its gradients say
            assert "exemplar_choice" in names or method in ("cn-dpm", "gss"), method


def test_pictures_are_mirrored_where_that_leaves_their_class_alone():
    assert means_for(PHOTOGRAPHS).augmentation == "shifts-and-mirrors"
    assert {means_for(stream).augmentation for stream in (VECTORS, DIGITS, SPECTROGRAMS)} == {"none"}


def test_a_search_goes_before_what_all_have():
    tuned = ERSettings.preset("default", dataclasses.replace(DIGITS, name="split-mnist"))
    assert tuned.learning_rate != means_for(DIGITS).learning_rate
    record = {"name": "er", **tuned.record()}
    assert means_of(record, "split-mnist")["search_trials"] > 0
    assert means_of({**record, "learning_rate": 0.5}, "split-mnist")["search_trials"] == 0
    assert means_of(record, "split-mnist").keys() >= {"updates_per_batch", "exemplar_choice", "augmentation"}


def test_a_method_of_another_package_keeps_its_own_defaults_unless_it_is_a_classifier_of_ours():
    @dataclasses.dataclass(frozen=True)
    class Foreign(ClassifierSettings):
        method = "foreign"
        own_means = frozenset({"updates_per_batch"})
        updates_per_batch: int = 7
        exemplars: int = 3

    settings = Foreign.preset("default", VECTORS)
    assert (settings.updates_per_batch, settings.exemplars) == (7, means_for(VECTORS).exemplars)


SMALL = {"hidden_units": (8,), "network": "mlp"}
LESS = {"exemplars": 6, "replay": 3, "epochs": 2, "chunk": 100, "hidden": 4, "width": 10, "generator_updates": 1}


@pytest.mark.parametrize("method", RIVALS)
def test_augmentation_changes_what_is_learned_and_travels_with_the_state(method):
    stream = StreamInfo("pictures", (1, 5, 5), classes=4, tasks=2)
    kind = method_settings(method)
    values = SMALL | {name: value for name, value in LESS.items() if hasattr(kind(), name)}
    values |= {"features": "learned"} if hasattr(kind(), "features") else {}
    x = torch.rand(2, 12, 1, 5, 5, generator=torch.Generator().manual_seed(0))

    def learned(augmentation, *, interrupted=False):
        learner = kind(**values, augmentation=augmentation).build(stream, seed=0)
        for task in (0, 1):
            y = torch.arange(12) % 2 + 2 * task
            learner.begin(TaskInfo(task, (2 * task, 2 * task + 1)))
            for batch in torch.arange(12).split(6):
                learner.observe(x[task, batch], y[batch])
            if interrupted:
                state = learner.state()
                learner = kind(**values, augmentation=augmentation).build(stream, seed=0)
                learner.restore(state)
            learner.end()
        return learner.logits(x.flatten(0, 1))

    moved = learned("shifts-and-mirrors")
    assert not torch.equal(moved, learned("none"))
    assert torch.equal(moved, learned("shifts-and-mirrors", interrupted=True))
