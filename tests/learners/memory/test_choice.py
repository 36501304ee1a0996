"""Criteria against brute force, on inputs few enough to be compared as they are."""

import dataclasses
from itertools import combinations
from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from merlin_cl.checks.clouds import STREAM, learned
from merlin_cl.learners.ensemble_settings import Choice
from merlin_cl.learners.memory.choice import WIDTH, GradientDiversity, Herding, KCentre, criterion
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.protocol import StreamInfo

CRITERIA = ["herding", "k-centre", "gradient"]
GROUP = (0, 0)
WHOLE = GradientDiversity((4,), seed=0)
"""A network small enough for whole gradients, in double precision."""


def points(seed, count, width=4):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def passing(rule, x):
    """Show a rule examples of one group; it can say who goes then."""
    for count, example in enumerate(x, start=1):
        rule.note(GROUP, example, count)
    return rule


def gradients(x):
    """Of the criterion's network, one backward pass for each example."""
    network = WHOLE._network.module(WHOLE._weights).double()
    rows = []
    for example in x:
        network.zero_grad()
        nn.functional.softplus(-network(example.unsqueeze(0))[0, 0]).backward()
        rows.append(torch.cat([parameter.grad.flatten() for parameter in network.parameters()]))
    return torch.stack(rows)


def nearest_pair_thinned(distance, count):
    """By definition: the closest pair, and which of the two has the nearer next neighbour."""
    first, second = min(combinations(range(count), 2), key=lambda pair: distance(*pair))
    others = [place for place in range(count) if place not in (first, second)]
    reach = {one: min((distance(one, other) for other in others), default=0) for one in (first, second)}
    return first if reach[first] < reach[second] else second


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(2, 9), earlier=st.integers(0, 9))
def test_herding_keeps_the_mean_nearest_to_that_of_all_that_passed(seed, count, earlier):
    everything = points(seed, count + earlier)
    candidates = everything[earlier:]
    leaver = passing(Herding((4,), seed=0), everything).leaver(GROUP, candidates)
    wanted = everything.mean(dim=0)
    error = [
        float((torch.cat([candidates[:at], candidates[at + 1 :]]).mean(dim=0) - wanted).norm()) for at in range(count)
    ]
    assert error[leaver] == pytest.approx(min(error))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(2, 9))
def test_k_centre_thins_the_closest_pair(seed, count):
    x = points(seed, count)
    expected = nearest_pair_thinned(lambda a, b: float((x[a] - x[b]).norm()), count)
    assert KCentre((4,), seed=0).leaver(GROUP, x) == expected


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(2, 7))
def test_gradient_thins_the_closest_pair_of_directions(seed, count):
    x = points(seed, count)
    unit = nn.functional.normalize(gradients(x), dim=1)
    assert WHOLE.leaver(GROUP, x) == nearest_pair_thinned(lambda a, b: -float(unit[a] @ unit[b]), count)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(3, 9), choice=st.sampled_from(CRITERIA))
def test_who_goes_does_not_depend_on_the_order_of_candidates_nor_of_what_passed(seed, count, choice):
    x = points(seed, count)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    straight, mixed = (
        passing(criterion(choice, (4,), 0), passed).leaver(GROUP, candidates)
        for passed, candidates in ((x, x), (x.flip(0), x[order]))
    )
    assert int(order[mixed]) == straight


@pytest.mark.parametrize("choice", CRITERIA)
def test_one_that_is_alone_goes_and_of_two_that_are_equal_the_newcomer(choice):
    x = torch.ones(2, 4)
    rule = passing(criterion(choice, (4,), 0), x)
    assert rule.leaver(GROUP, x[:1]) == 0
    assert rule.leaver(GROUP, x) == 1


@pytest.mark.parametrize("choice", CRITERIA)
def test_a_newcomer_of_another_class_takes_the_place_that_the_criterion_frees(choice):
    """The largest group is thinned as the criterion says, not at random."""
    crowd = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.01], [-3.0, -3.0]])
    for seed in range(3):
        memory = ExemplarMemory(4, choice, (2,), torch.Generator().manual_seed(seed))
        memory.offer(crowd, torch.zeros(4, dtype=torch.int64), 0)
        rule = passing(criterion(choice, (2,), seed), crowd)
        stay = [place for place in range(4) if place != rule.leaver(GROUP, crowd)]
        memory.offer(torch.full((1, 2), 9.0), torch.ones(1, dtype=torch.int64), 0)
        assert sorted(memory.x[memory.y == 0].tolist()) == sorted(crowd[stay].tolist())


def test_herded_exemplars_have_the_mean_of_the_stream():
    x, y = points(0, 400, 10).float(), torch.zeros(400, dtype=torch.int64)
    distance = {}
    for choice in ("balanced", "herding"):
        memory = ExemplarMemory(20, choice, (10,), torch.Generator().manual_seed(0))
        memory.offer(x, y, 0)
        distance[choice] = float((memory.x.mean(dim=0) - x.mean(dim=0)).norm())
    assert distance["herding"] < 0.5 * distance["balanced"]


@pytest.mark.parametrize("choice", ["k-centre", "gradient"])
def test_diverse_exemplars_have_one_of_every_cloud(choice):
    """Ninety-five in a hundred are of one cloud; of the others chance would miss some."""
    centres = 10 * torch.eye(6)
    cloud = torch.where(torch.arange(600) % 100 < 95, 0, torch.arange(600) % 100 - 94)
    x = centres[cloud] + 0.1 * points(1, 600, 6).float()
    memory = ExemplarMemory(12, choice, (6,), torch.Generator().manual_seed(0))
    memory.offer(x, torch.zeros(600, dtype=torch.int64), 0)
    assert set(memory.x.argmax(dim=1).tolist()) == set(range(6))


def test_distances_survive_the_projection():
    x = points(3, 40, 3072).float()
    rule = KCentre((3, 32, 32), seed=0)
    seen = torch.stack([rule.features(example.view(3, 32, 32)) for example in x])
    assert seen.shape == (40, WIDTH)
    ratio = (nn.functional.pdist(seen) / nn.functional.pdist(x)).log()
    assert float(ratio.std()) < 0.1
    assert ratio.abs().max() < 0.4


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999), count=st.integers(1, 9), earlier=st.integers(0, 9))
def test_who_goes_is_the_same_once_it_is_settled(seed, count, earlier):
    """The order that takes the place of the mean is that in which the mean would have had them go."""
    everything = points(seed, count + earlier)
    candidates = everything[earlier:]
    by_mean, settled = (passing(Herding((4,), seed=0), everything) for _ in range(2))
    order = candidates[settled.final_order(GROUP, candidates)]
    assert settled.unsettled == []
    assert settled.stored_bytes == 0
    while len(candidates) > 1:
        assert torch.equal(order[settled.leaver(GROUP, order)], candidates[by_mean.leaver(GROUP, candidates)])
        gone = by_mean.leaver(GROUP, candidates)
        candidates = torch.cat([candidates[:gone], candidates[gone + 1 :]])
        order = order[:-1]


@pytest.mark.parametrize("budget", [2, 12])
def test_herding_keeps_means_of_the_present_task_alone(budget):
    """Also of a class of which nothing is held any more; notes stay beside their exemplars."""
    memory = ExemplarMemory(budget, "herding", (4,), torch.Generator().manual_seed(0))
    for task in range(4):
        x = points(task, 30).float()
        memory.offer(x, torch.arange(30) % 3, task, notes=x[:, :1])
        assert memory.stored_bytes == len(memory) * (4 * 4 + 2 + 4) + 3 * 4 * 4
        assert torch.equal(memory.notes, memory.x[:, :1])


def test_bytes_of_means_are_counted():
    held, x, y = {}, torch.zeros(30, 4), torch.arange(30) % 3
    for choice in get_args(Choice):
        memory = ExemplarMemory(6, choice, (4,), torch.Generator().manual_seed(0))
        memory.offer(x, y, 0)
        held[choice] = memory.stored_bytes
    assert {choice: held[choice] - held["random"] for choice in held if choice != "random"} == {
        "balanced": 0, "herding": 3 * 4 * 4, "k-centre": 0, "gradient": 0,
    }  # fmt: skip


@pytest.mark.parametrize("choice", CRITERIA)
def test_merlin_and_its_control_hold_the_same_exemplars(choice):
    shared = {"hidden_units": (16,), "exemplars": 12, "models": 2, "exemplar_choice": choice}
    merlin = MerlinSettings(**shared, base_models=2, latent=100).build(STREAM, seed=5)
    control = GDumbEnsembleSettings(**shared).build(STREAM, seed=5)
    other = dataclasses.replace(control.settings, exemplar_choice="balanced").build(STREAM, seed=5)
    for learner in (merlin, control, other):
        learned(learner)
    assert torch.equal(merlin.memory.x, control.memory.x)
    assert torch.equal(merlin.memory.y, control.memory.y)
    assert not torch.equal(other.memory.x, control.memory.x)


class Work(TorchDispatchMode):
    """Counts operations, and the numbers that they make."""

    operations = numbers = 0

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # nobody compiles; to see to it, torch would import its compiler, which takes a second

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        self.operations += 1
        if isinstance(made, torch.Tensor) and not func.is_view:
            self.numbers += made.numel()
        return made


@pytest.mark.parametrize("choice", CRITERIA)
def test_choosing_among_photographs_is_quick(choice):
    """Where 200 images have a place, one more costs less than a look at each of them would."""
    x, y = torch.randint(0, 256, (300, 3, 32, 32), dtype=torch.uint8), torch.arange(300) % 2
    memory = ExemplarMemory(200, choice, (3, 32, 32), torch.Generator().manual_seed(0))
    with Work() as work:
        memory.offer(x, y, 0)
    assert 0 < work.operations < 200 * len(x)
    assert x.numel() < work.numbers < 200 * x.numel()


def test_larger_images_are_kept_by_chance_and_smaller_ones_herded():
    choices = [
        GDumbEnsembleSettings.preset("default", StreamInfo("pictures", (3, size, size), 10, 5)).exemplar_choice
        for size in (28, 32)
    ]
    assert choices == ["herding", "balanced"]
