"""A bank of any module is M separate modules: the same answers, the same training, the same statistics."""

import dataclasses
import sys

import own_modules
import pytest
import torch
from torch.nn import functional

from merlin_cl import checks
from merlin_cl.checks import life_cycle
from merlin_cl.errors import UsageError
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.choice import network_for
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.network import BatchUse, Weight
from merlin_cl.networks.reference import reference, resolve
from merlin_cl.networks.statistics import reestimate_statistics

SHAPES = {
    own_modules.Plain: (2, 3),
    own_modules.Convolutional: (3, 6, 5),
    own_modules.Frozen: (2, 3),
    own_modules.Recurrent: (4, 3),
}

SMALL_MERLIN = MerlinSettings(
    exemplars=12,
    models=3,
    fine_tune_rate=1e-2,
    base_models=3,
    learning_rate=2e-2,
    updates_per_batch=3,
    replay=4,
    rehearse=4,
    latent=150,
)


def draws(seed):
    return torch.Generator().manual_seed(seed)


def network_of(factory):
    return ModuleNetwork(factory, SHAPES.get(factory, (2, 3)), 4)


@pytest.mark.parametrize("factory", SHAPES, ids=lambda factory: factory.__name__)
def test_training_equals_separate_modules(factory):
    network, members, generator = network_of(factory), 3, draws(0)
    bank = Bank(network, network.initial(members, generator).double())
    alone = [network.module(row).train() for row in bank.weights]
    training = Training(bank, learning_rate=1e-2, weight_decay=1e-3)
    learned = [[weight for weight in module.parameters() if weight.requires_grad] for module in alone]
    optimisers = [torch.optim.AdamW(weights, lr=1e-2, weight_decay=1e-3) for weights in learned]
    allowed = torch.ones(4, dtype=torch.bool)
    for _ in range(20):
        x = torch.randn(members, 7, *network.input_shape, generator=generator).double()
        y = torch.randint(0, 4, (members, 7), generator=generator)
        training.step(x, y, allowed)
        for member, (module, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            optimiser.zero_grad()
            functional.cross_entropy(module(x[member]), y[member]).backward()
            optimiser.step()
    fresh = torch.randn(9, *network.input_shape, generator=generator).double()
    with torch.no_grad():
        expected = torch.stack([module.eval()(fresh) for module in alone])
    torch.testing.assert_close(bank.logits(fresh), expected, atol=1e-9, rtol=0)
    for row, module in zip(bank.weights, alone, strict=True):
        back = network.module(row).state_dict()
        for name, value in module.state_dict().items():
            torch.testing.assert_close(back[name], value, atol=1e-9, rtol=0)


def test_what_a_row_holds():
    network = network_of(own_modules.Convolutional)
    assert network.statistics == ("norm.running_mean", "norm.running_var", "norm.num_batches_tracked")
    assert network.shapes["first.weight"] == (3, 3, 3, 6)
    assert network.shapes["scale"] == (1,)
    assert "ramp" not in network.shapes
    assert network.learned == sum(weight.numel() for weight in own_modules.Convolutional((3, 6, 5), 4).parameters())
    assert network_of(own_modules.Frozen).size == 12 * 4 + 4
    row = network.initial(1, draws(0))[0]
    state = network.module(row).state_dict()
    expected = torch.cat([state[name].flatten().float() for name in state if name != "ramp"])
    assert torch.equal(row[network.torch_order()], expected)


def test_members_start_as_the_factory_draws_them_and_nothing_else_is_disturbed():
    network = network_of(own_modules.Plain)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second = network.initial(2, draws(0)), network.initial(2, draws(0))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(first, second)
    assert not torch.equal(first[0], first[1])


def test_members_that_take_no_example_keep_their_statistics():
    network = network_of(own_modules.Convolutional)
    bank = Bank(network, network.initial(2, draws(0)))
    before = bank.weights.clone()
    shares = torch.tensor([[1.0, 1, 0, 1], [0, 0, 0, 0]])
    x, y = torch.randn(4, 3, 6, 5, generator=draws(1)), torch.tensor([0, 1, 2, 3])
    Training(bank, 1e-2).step(x, y, torch.ones(4, dtype=torch.bool), shares)
    assert torch.equal(bank.weights[1], before[1])
    statistics = network.views(bank.weights)["norm.running_mean"]
    assert not torch.equal(statistics[0], network.views(before)["norm.running_mean"][0])


def test_statistics_can_be_taken_anew():
    network = network_of(own_modules.Convolutional)
    bank = Bank(network, network.initial(2, draws(0)))
    x = torch.randn(30, 3, 6, 5, generator=draws(1))
    reestimate_statistics(bank, x)
    for member, row in enumerate(bank.weights):
        module = network.module(row)
        h = module.first(x + module.ramp).detach()
        views = network.views(bank.weights)
        torch.testing.assert_close(views["norm.running_mean"][member], h.mean(dim=(0, 2, 3)), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(views["norm.running_var"][member], h.var(dim=(0, 2, 3)), atol=1e-5, rtol=1e-4)
    assert [layer.momentum for layer in network._norms] == [0.3]


def test_random_layers_draw_the_same_again_and_members_draw_apart():
    network = network_of(own_modules.Normalised)
    weights = network.initial(1, draws(0)).repeat(2, 1)
    x = torch.randn(8, 2, 3, generator=draws(1)).expand(2, 8, 2, 3)
    answers = [network.forward(weights_of(network, weights.clone()), x, BatchUse()) for _ in range(2)]
    assert torch.equal(*answers)
    assert not torch.equal(answers[0][0], answers[0][1])


def weights_of(network, flat):
    return {name: Weight(view) for name, view in network.views(flat).items()}


def test_a_batch_of_one_can_be_learned():
    network = network_of(own_modules.Normalised)
    bank = Bank(network, network.initial(2, draws(0)))
    Training(bank, 1e-2).step(torch.randn(1, 2, 3), torch.tensor([1]), torch.ones(4, dtype=torch.bool))
    assert torch.isfinite(bank.weights).all()


def test_apply_is_differentiable_in_the_weights():
    network = network_of(own_modules.Convolutional)
    flat = network.initial(2, draws(0)).double().requires_grad_()
    x = torch.randn(2, 3, 3, 6, 5, dtype=torch.float64, generator=draws(1))
    (gradient,) = torch.autograd.grad(network.apply(flat, x).square().sum(), flat)
    direction = torch.randn(flat.shape, generator=draws(2), dtype=torch.float64)
    direction[:, network.learned :] = 0
    step = 1e-6 * direction
    with torch.no_grad():
        slope = (network.apply(flat + step, x).square().sum() - network.apply(flat - step, x).square().sum()) / 2e-6
    torch.testing.assert_close((gradient * direction).sum(), slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("check", checks.LIFE_CYCLE, ids=lambda check: check.__name__)
@pytest.mark.usefixtures("short_fits")
def test_merlin_passes_the_battery_with_a_module(check):
    check(dataclasses.replace(SMALL_MERLIN, network=reference(own_modules.Plain)))


def test_a_learner_with_dropout_and_statistics_resumes_exactly():
    network = reference(own_modules.Normalised)
    life_cycle.restored_equals_uninterrupted(SingleSettings(network=network, learning_rate=2e-2))


def test_merlin_samples_models_with_statistics_of_their_own():
    settings = dataclasses.replace(SMALL_MERLIN, network=reference(own_modules.Normalised))
    life_cycle.same_seed_same_result(settings)
    life_cycle.learns_the_first_task(settings)


def test_references_are_found_again(tmp_path, monkeypatch):
    assert resolve(reference(own_modules.Plain)) is own_modules.Plain
    (tmp_path / "my_little_net.py").write_text(
        "from torch import nn\ndef net(shape, classes): return nn.Linear(shape[0], classes)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert network_for("my_little_net:net", (3,), 4, ()).size == 16
    assert str(tmp_path) not in sys.path
    with pytest.raises(UsageError, match="not at the top of a module"):
        reference(lambda shape, classes: None)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("nowhere.at_all:net", "cannot be imported"),
        (f"{own_modules.__name__}:missing", "has no 'missing' that can be called"),
        (f"{own_modules.__name__}:hopeless", r"hopeless does not take inputs of shape \[N, 2, 4\]"),
        (f"{own_modules.__name__}:too_few", r"answers 4 inputs with \[4, 6\]; expected \[4, 7\] logits"),
        (f"{own_modules.__name__}:nothing", "gave a NoneType"),
        (f"{own_modules.__name__}:finished", "nothing can be learned"),
        ("mpl", "did you mean 'mlp'"),
    ],
)
def test_networks_that_do_not_fit_are_named(kind, sentence):
    with pytest.raises(UsageError, match=sentence):
        network_for(kind, (2, 4), 7, (5,))
