"""Task vectors that mean something: they reach the prior, survive a restart, and describe tasks that were never learned."""

import dataclasses

import pytest
import torch

from merlin_cl import checks
from merlin_cl.checks import clouds
from merlin_cl.checks.clouds import STREAM, TASKS, everything, examples
from merlin_cl.checks.hard_cases import equal_inputs, one_class_in_the_first_task, one_example
from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.task2vec import WIDTH, task2vec
from merlin_cl.learners.merlin.unseen import mixture, nearness, semantic_scores
from merlin_cl.protocol import TaskInfo
from merlin_cl.statefile import decode, encode

pytestmark = pytest.mark.usefixtures("short_fits")
SMALL = MerlinSettings(
    hidden_units=(8,), exemplars=12, models=3, base_models=3, learning_rate=2e-2, updates_per_batch=3, replay=4, rehearse=4,
    latent=80, fine_tune_rate=1e-2,
)  # fmt: skip
WORDS = dataclasses.replace(SMALL, descriptor="words")
TASK2VEC = dataclasses.replace(SMALL, descriptor="task2vec")
VECTORS = ((0.8, 0.6, 0.0, 0.0, 0.0), (0.6, 0.8, 0.0, 0.0, 0.0), (0.6, 0.0, 0.8, 0.0, 0.0))
DESCRIBED = [dataclasses.replace(task, descriptor=vector) for task, vector in zip(TASKS, VECTORS, strict=True)]
ONE_HOT = [dataclasses.replace(task, descriptor=tuple(torch.eye(STREAM.tasks)[task.index].tolist())) for task in TASKS]


def learn(learner, task):
    x, y = examples(TASKS[task.index])
    learner.begin(task)
    for start in range(0, len(y), 8):
        learner.observe(x[start : start + 8], y[start : start + 8])
    learner.end()


def learned(settings, tasks):
    learner = settings.build(STREAM, seed=0)
    for task in tasks:
        learn(learner, task)
    return learner


@pytest.mark.parametrize("check", checks.LIFE_CYCLE, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("settings", "tasks"), [(WORDS, DESCRIBED), (TASK2VEC, TASKS)], ids=["words", "task2vec"])
def test_battery(settings, tasks, check, monkeypatch):
    monkeypatch.setattr(clouds, "TASKS", tasks)
    check(settings)


@pytest.mark.parametrize(
    "check", [one_class_in_the_first_task, one_example, equal_inputs], ids=lambda check: check.__name__
)
def test_an_embedding_is_finite_whatever_the_examples(check):
    check(TASK2VEC)


def test_one_hot_is_what_it_says_bit_for_bit():
    x, _ = everything()
    plain, given = learned(SMALL, TASKS), learned(SMALL, ONE_HOT)
    for inference in ("marginal", "aggregate"):
        assert torch.equal(plain.logits(x, inference=inference), given.logits(x, inference=inference))


def test_descriptors_may_be_as_wide_as_they_like():
    for vectors in (VECTORS, [vector[:2] for vector in VECTORS]):
        tasks = [dataclasses.replace(task, descriptor=vector) for task, vector in zip(TASKS, vectors, strict=True)]
        learner = learned(WORDS, tasks)
        assert len(learner.distribution.priors) == 3
        assert torch.isfinite(learner.sample_unseen(vectors[0], 2).weights).all()


@pytest.mark.parametrize(("settings", "tasks"), [(WORDS, DESCRIBED), (TASK2VEC, TASKS)], ids=["words", "task2vec"])
def test_sampled_models_solve_every_task_with_related_descriptors(settings, tasks):
    learner = learned(dataclasses.replace(settings, hidden_units=(16,), updates_per_batch=10), tasks)
    assert min(learner.probe(task.index, *examples(task))["sampled_ensemble"] for task in TASKS) > 90


def without_spread(learner):
    """The learner with priors that are their components' means, so that what is drawn can be told exactly."""
    priors = learner.distribution.priors
    priors[:] = [dataclasses.replace(prior, spreads=torch.zeros_like(prior.spreads)) for prior in priors]
    return learner


def offsets(learner, bank):
    """What models add to the starts they belong to: model m to start m."""
    return bank.weights - learner.distribution.decoder.starts[: len(bank.weights)]


def test_the_prior_is_a_function_of_the_descriptor():
    """At a task's own descriptor it is that task's prior; at another it is another."""
    learner = without_spread(learned(WORDS, DESCRIBED))
    for task, vector in enumerate(VECTORS):
        torch.testing.assert_close(
            learner.sample_unseen(vector, 3).weights, learner.distribution.mean(task), atol=1e-4, rtol=1e-3
        )
    assert (learner.distribution.mean(0) - learner.distribution.mean(2)).norm() > 0.1


def test_models_of_an_unseen_task_are_the_mixture_that_its_descriptor_is():
    learner = without_spread(learned(WORDS, DESCRIBED))
    vectors = torch.tensor(VECTORS)
    mixed = offsets(learner, learner.sample_unseen((0.25 * vectors[0] + 0.75 * vectors[2]).tolist(), 3))
    first, third = (learner.distribution.mean(task) - learner.distribution.decoder.starts for task in (0, 2))
    torch.testing.assert_close(mixed, 0.25 * first + 0.75 * third, atol=1e-4, rtol=1e-3)


def test_the_spread_of_a_mixture_is_that_of_a_sum():
    learner = learned(WORDS, DESCRIBED)
    distribution, draws = learner.distribution, torch.Generator().manual_seed(0)
    drawn = torch.stack([distribution.aggregate(1, draws, torch.tensor([0.25, 0.0, 0.75]))[0] for _ in range(400)])
    variances = [prior._deviations(distribution.sketch)[:1].square() for prior in distribution.priors]
    wanted = distribution.decoder.sketch.offsets((0.25**2 * variances[0] + 0.75**2 * variances[2]).sqrt())[0].abs()
    assert float(wanted.mean()) > 0
    torch.testing.assert_close(drawn.std(dim=0).norm(), wanted.norm(), rtol=0.05, atol=0)


def test_what_nothing_is_known_of_is_a_network_at_its_start():
    learner = learned(WORDS, DESCRIBED)
    bank = learner.sample_unseen((0.0, 0.0, 0.0, 0.0, 1.0), 2)
    torch.testing.assert_close(offsets(learner, bank), torch.zeros_like(bank.weights), atol=1e-3, rtol=0)


def test_neighbours_are_models_of_single_tasks():
    learner = learned(WORDS, DESCRIBED)
    chances = nearness(torch.tensor(VECTORS), torch.tensor(VECTORS[2]))
    assert chances.argmax() == 2
    bank = learner.sample_unseen(VECTORS[2], 20, "neighbours")
    means = [learner.distribution.mean(task) for task in range(3)]
    nearest = torch.stack([torch.cdist(bank.weights, mean).amin(dim=1) for mean in means]).argmin(dim=0)
    assert len(bank.weights) == 20
    assert nearest.bincount().argmax() == 2


def test_asking_for_an_unseen_task_is_the_same_after_a_restart():
    learner = learned(TASK2VEC, TASKS)
    again = TASK2VEC.build(STREAM, seed=0)
    again.restore(decode(encode(learner.state(), {}))[0])
    descriptor = task2vec(*examples(TASKS[1])).tolist()
    for blend in ("linear", "neighbours"):
        one, other = (each.sample_unseen(descriptor, 4, blend).weights for each in (learner, again))
        assert torch.equal(one, other)


def test_descriptors_are_counted_among_what_is_stored():
    assert learned(WORDS, DESCRIBED).stored_bytes()["descriptors"] == 4 * 3 * 5
    assert learned(TASK2VEC, TASKS).stored_bytes()["descriptors"] == 4 * 3 * WIDTH
    assert "descriptors" not in learned(SMALL, TASKS).stored_bytes()


def test_task2vec_uses_nothing_but_the_exemplars_of_the_task():
    learner = TASK2VEC.build(STREAM, seed=0)
    learner.begin(TASKS[0])
    learner.observe(*examples(TASKS[0]))
    assert learner.tasks[0].descriptor is None  # not before the task has ended
    x, y = learner.memory.of_task(0)
    learner.end()
    assert learner.tasks[0].descriptor == tuple(task2vec(x, y).tolist())


@pytest.mark.parametrize("shape", [(3, 16, 16), (6,)])
def test_task2vec_is_near_for_the_same_task_and_far_for_another(shape):
    generator = torch.Generator().manual_seed(0)

    def examples(patterns):
        y = torch.arange(2).repeat(20)
        return patterns[y] + 0.3 * torch.randn(40, *shape, generator=generator), y

    one, other = (torch.randn(2, *shape, generator=generator) for _ in range(2))
    first, again, far = (task2vec(*examples(patterns)) for patterns in (one, one, other))
    assert first.shape == (WIDTH,)
    assert float(first.norm()) == pytest.approx(1, abs=1e-5)
    assert first @ again > first @ far


def test_task2vec_does_not_depend_on_what_classes_are_called():
    x, y = examples(TASKS[0])
    torch.testing.assert_close(task2vec(x, y), task2vec(x, 9 - y), atol=1e-4, rtol=0)


def test_a_mixture_ignores_what_cannot_be_told_apart():
    known = torch.tensor([[1.0, 0.0], [1.0, 1e-5]])
    torch.testing.assert_close(mixture(known, torch.tensor([1.0, 0.5])), torch.tensor([0.5, 0.5]), atol=1e-3, rtol=0)


def test_words_find_a_class_without_examples():
    known = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])  # cat, car, tree
    wanted = torch.tensor([[0.9, 0.1, 0], [0.1, 0.9, 0.1]])  # tiger, truck
    scores = semantic_scores(torch.tensor([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]]), known, wanted)
    assert scores.argmax(dim=1).tolist() == [0, 1]


def test_refusals_leave_no_trace():
    learner = WORDS.build(STREAM, seed=0)
    for wrong, sentence in (
        (None, "is missing"),
        ((0.0, 0.0), "zero or not finite"),
        ((1.0, float("nan")), "not finite"),
    ):
        with pytest.raises(InputError, match=sentence):
            learner.begin(dataclasses.replace(TASKS[0], descriptor=wrong))
    with pytest.raises(UsageError, match="No task has been learned yet"):
        learner.sample_unseen(VECTORS[0])
    learn(learner, DESCRIBED[0])
    with pytest.raises(InputError, match="descriptor of task 1 is not as wide"):
        learner.begin(TaskInfo(1, (2, 3), descriptor=(1.0,)))
    learn(learner, DESCRIBED[1])
    with pytest.raises(InputError, match="must be 5 finite numbers"):
        learner.sample_unseen((1.0, 2.0))
    with pytest.raises(UsageError, match="at least 1 model"):
        learner.sample_unseen(VECTORS[0], 0)
    with pytest.raises(UsageError, match="One-hot vectors say nothing"):
        learned(SMALL, TASKS).sample_unseen(VECTORS[0])
    with pytest.raises(UsageError, match="use descriptor words with it"):
        dataclasses.replace(SMALL, words="vectors.txt")
