"""p(psi | t): components, spread, bytes."""

import dataclasses
from types import SimpleNamespace

import pytest
import torch

from merlin_cl.learners.merlin.distribution import TaskPrior
from merlin_cl.learners.probes import disagreement

from .small import SMALL, STREAM, TASKS, everything, examples, learned

PARTS = [(0, 30), (30, 34), (34, 100)]
SKETCH, NORMALISED = (
    SimpleNamespace(groups=PARTS, short=None, network=SimpleNamespace(statistics=names)) for names in ((), ("mean",))
)


def prior(components=4, spread=0.1):
    z = torch.randn(components, 100, generator=torch.Generator().manual_seed(0))
    return TaskPrior.fitted(z, torch.full_like(z, spread), SKETCH)


def test_samples_have_the_mean_and_the_spread_of_their_components():
    one = prior()
    drawn = one.sample(SKETCH, 4 * 2000, torch.Generator().manual_seed(1))
    means = one.mean(SKETCH).z
    for b in range(4):
        own = drawn.z[drawn.starts == b]
        assert len(own) == 2000
        torch.testing.assert_close(own.mean(dim=0), means[b], atol=0.02, rtol=0)
        assert float(own.std(dim=0).mean()) == pytest.approx(0.1, rel=0.02)


def test_components_are_drawn_as_often_as_each_other():
    counts = prior().sample(SKETCH, 10, torch.Generator()).starts.bincount()
    assert counts.max() - counts.min() <= 1


def test_smaller_priors_lose_components_and_then_values_until_there_is_nothing_left_to_lose():
    one, sizes, components = prior(), [], []
    while one is not None:
        sizes.append(one.bytes)
        components.append(one.components)
        one = one.smaller(SKETCH)
    assert components == [4, 4, 3, 2, 1, 1, 1, 1]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


def test_networks_that_normalise_batches_lose_components_before_values():
    one, forms = prior(), []
    while one is not None:
        forms.append((one.components, one.means.levels))
        one = one.smaller(NORMALISED)
    assert forms == [(4, 16), (3, 16), (2, 16), (1, 16), (1, 6), (1, 4), (1, 3), (1, 2)]


def test_plain_cutting_leaves_the_components_that_stay_as_they_were():
    one = prior()
    coarse = one.smaller(SKETCH)
    assert torch.equal(coarse.smaller(SKETCH).mean(SKETCH).z, coarse.mean(SKETCH).z[:3])


def test_a_restored_prior_draws_the_same():
    one = prior()
    again = TaskPrior.restored(one.state())
    first, second = (p.sample(SKETCH, 6, torch.Generator().manual_seed(3)).z for p in (one, again))
    assert torch.equal(first, second)


def test_sampled_models_differ_about_as_much_as_base_models_do():
    learner = SMALL.build(STREAM, seed=0)
    learned(learner)
    x, _ = everything()
    wide = x + 3 * torch.randn(
        x.shape, generator=torch.Generator().manual_seed(0)
    )  # where there is something to disagree on
    outputs = learner.outputs(learner.seen)
    base = learner._base.psi
    choices = [
        learner.network.apply(psi, wide.expand(len(psi), *x.shape)).masked_fill(~outputs, -1e10).argmax(dim=-1)
        for psi in (base, learner.distribution.sample(2, 6, torch.Generator().manual_seed(0)))
    ]
    of_base, of_samples = (disagreement(chosen, STREAM.classes) for chosen in choices)
    assert of_base > 0.02
    assert of_samples > 0.75 * of_base


def test_what_is_stored_is_all_that_is_said_to_be():
    learner = learned(SMALL.build(STREAM, seed=0))
    state = learner.state()["method"]["distribution"]
    tensors = [tensor for one in state["priors"] for tensor in (*one["means"].values(), one["spreads"])]
    stored = sum(t.numel() * t.element_size() for t in tensors if isinstance(t, torch.Tensor))
    masks = sum(-(-len(one["means"]["kept"]) // 8) for one in state["priors"])
    assert learner.distribution.bytes == stored + masks


def test_the_bytes_of_a_task_do_not_depend_on_how_many_there_are():
    """Nothing is stored that is as long as there are tasks."""
    many = dataclasses.replace(STREAM, tasks=300)
    few, more = (SMALL.build(stream, seed=0) for stream in (STREAM, many))
    for learner in (few, more):
        learner.begin(TASKS[0])
        learner.observe(*examples(TASKS[0]))
        learner.end()
    assert few.stored_bytes() == more.stored_bytes()
