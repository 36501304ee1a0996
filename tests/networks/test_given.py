"""A network may be an object: a module, or what makes one. It is saved by name and checksum, and given again to be loaded."""

import numpy as np
import pytest
import torch
from torch import nn

from merlin_cl import ContinualClassifier, Learner, MerlinClassifier, load, run
from merlin_cl.checks import clouds
from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.networks.given import network_name
from merlin_cl.streams import Stream

SMALL = {"learning_rate": 2e-2, "updates_per_batch": 5, "exemplars": 12, "replay": 4}


class Net(nn.Module):
    """A body that is not trained, a normalisation and a head."""

    def __init__(self, outputs=7, frozen=True):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(6, 16)).requires_grad_(not frozen)
        self.norm = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, outputs)

    def forward(self, x):
        return self.head(self.norm(self.body(x)).relu())


def made(seed=0, **options):
    torch.manual_seed(seed)
    return Net(**options)


def rows(count=60):
    draws = np.random.default_rng(0)
    y = np.arange(count) % 3
    return (draws.normal(size=(count, 6)) + 3 * y[:, None]).astype(np.float32), y


def test_a_module_starts_from_the_weights_it_has_and_is_left_alone():
    module = made(frozen=False)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    learner = ERSettings(network=module, **SMALL).build(clouds.STREAM, seed=1)
    x, _ = clouds.everything()
    torch.testing.assert_close(learner.bank.logits(x)[0], module.eval()(x))
    clouds.learned(learner)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    accuracy = (learner.logits(x).argmax(dim=1) == clouds.everything()[1]).float().mean()
    assert accuracy > 0.8


def test_a_factory_that_has_no_place_in_a_module_is_called_afresh_for_every_network():
    seen = []

    def factory(input_shape, classes):
        seen.append((input_shape, classes))
        return nn.Sequential(nn.Flatten(), nn.Linear(6, classes))

    settings = GDumbEnsembleSettings(network=factory, models=3, exemplars=12)
    bank = settings.build(clouds.STREAM, seed=1).network.initial(3, torch.Generator().manual_seed(0))
    assert set(seen) == {((2, 3), 7)}
    assert not torch.equal(bank[0], bank[1])


def test_every_way_in_takes_an_object():
    x, y = rows()
    stream = Stream.from_arrays(x, y, [[0], [1, 2]])
    assert run(stream, "er", settings={"network": made()}).final_accuracy > 60
    for estimator in (
        MerlinClassifier(network=made(), models=2, base_models=2),
        ContinualClassifier("er", settings={"network": made(), **SMALL}),
    ):
        estimator.partial_fit(x[y < 2], y[y < 2], task="first").partial_fit(x[y == 2], y[y == 2], task="second")
        assert estimator.end_task().score(x, y) > 0.6  # two outputs at first, then three


def test_a_saved_learner_asks_for_its_network_and_goes_on_bit_for_bit(tmp_path):
    x, y = rows()
    model = ContinualClassifier("er", settings={"network": made(), **SMALL}).partial_fit(x, y, task="a")
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", network=made(seed=0))
    for one in (model, again):
        one.partial_fit(x[::-1], y[::-1], task="b")
    assert np.array_equal(model.predict_proba(x), again.predict_proba(x))
    assert b"test_given" not in (tmp_path / "model").read_bytes()


def test_learned_weights_may_differ_and_frozen_ones_may_not(tmp_path):
    learner = clouds.learned(ERSettings(network=made(frozen=False), **SMALL).build(clouds.STREAM, seed=1))
    path = learner.save(tmp_path / "free")
    x, _ = clouds.everything()
    loaded = Learner.load(path, network=made(seed=5, frozen=False))
    assert torch.equal(loaded.logits(x), learner.logits(x))
    path = clouds.learned(ERSettings(network=made(seed=7), **SMALL).build(clouds.STREAM, seed=1)).save(
        tmp_path / "held"
    )
    with pytest.raises(UsageError, match=r"was learned with the network given:Net-\w+-\w+, but network is given:Net-"):
        Learner.load(path, network=made(seed=8))


def test_without_its_network_a_file_says_what_it_needs(tmp_path, monkeypatch):
    path = clouds.learned(ERSettings(network=made(), **SMALL).build(clouds.STREAM, seed=1)).save(tmp_path / "model")
    monkeypatch.setattr("merlin_cl.networks.given._GIVEN", {})  # as another process has it
    with pytest.raises(UsageError, match=r"an object that no file holds; load it with network=\.\.\., the same module"):
        Learner.load(path)
    with pytest.raises(UsageError, match=r"was learned with the network given:Net-.*, but network is mlp"):
        Learner.load(path, network="mlp")


class Deaf(nn.Module):
    """Takes no inputs of the shape, and has no linear layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 7, 3)

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (3, r"^network is 3; give a name such as mlp, a torch.nn.Module, or a function of \(input_shape, classes\)"),
        (Deaf(), r"^The network given:Deaf-\w+-\w+ does not take inputs of shape \[N, 2, 3\]"),
        (
            nn.Flatten(),
            r"^The network given:Flatten-\w+-\w+ answers 4 inputs with \[4, 6\]; expected \[4, 7\] logits\.$",
        ),
        (made().requires_grad_(False), "has no parameter that asks for a gradient: nothing can be learned"),
        (nn.Sequential(nn.Flatten(), nn.LazyLinear(7)), r"has a lazy layer \(1.weight\); run it once on an input"),
        (
            lambda: made(),
            r"cannot be made from the shape \[2, 3\] and 7 classes .*called with \(input_shape, classes\)",
        ),
        (lambda input_shape, classes: classes, "gave a int; expected a torch.nn.Module"),
        ("given:Net-00000000-00000000", "was an object, which no file holds; give the same module or factory again"),
    ],
)
def test_what_is_no_network_is_one_sentence(network, said):
    with pytest.raises(UsageError, match=said):
        ERSettings(network=network, **SMALL).build(clouds.STREAM, seed=0)


def test_names_are_those_of_content():
    assert network_name(made(seed=1)) == network_name(made(seed=1))
    assert network_name(made(seed=1)) != network_name(made(seed=2))
    assert network_name(Net) == f"{__name__}:Net"
