"""The memory never exceeds its budget, and holds what its name promises."""

from collections import Counter
from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.ensemble_settings import Choice
from merlin_cl.learners.memory.exemplars import ExemplarMemory

CHOICES = get_args(Choice)
BALANCED = [choice for choice in CHOICES if choice != "random"]


def memory_of(labels, budget, choice, seed=0, task=0):
    """Each example is its own position in the stream, so that what is held can be told."""
    memory = ExemplarMemory(budget, choice, (1,), torch.Generator().manual_seed(seed))
    x = torch.arange(len(labels), dtype=torch.float32).unsqueeze(1)
    memory.offer(x, torch.tensor(labels, dtype=torch.int64), task)
    return memory


streams = st.lists(st.integers(0, 3), max_size=60)


@settings(max_examples=60, deadline=None)
@given(labels=streams, budget=st.integers(1, 20), choice=st.sampled_from(CHOICES), seed=st.integers(0, 99))
def test_holds_distinct_examples_of_the_stream_up_to_its_budget(labels, budget, choice, seed):
    memory = memory_of(labels, budget, choice, seed)
    held = memory.x.flatten().long().tolist()
    assert len(memory) == min(budget, len(labels))
    assert len(set(held)) == len(held)
    assert memory.y.tolist() == [labels[position] for position in held]


@settings(max_examples=60, deadline=None)
@given(labels=streams, budget=st.integers(1, 20), choice=st.sampled_from(BALANCED), seed=st.integers(0, 99))
def test_balanced_classes_differ_by_one_unless_the_stream_had_too_few(labels, budget, choice, seed):
    held, seen = Counter(memory_of(labels, budget, choice, seed).y.tolist()), Counter(labels)
    most = max(held.values(), default=0)
    # A class that came after the memory was full can only grow by taking places of the largest, one at a time.
    for label, count in seen.items():
        assert held[label] >= min(count, most - 1)


@pytest.mark.parametrize("choice", ["random", "balanced"])
def test_every_example_of_a_class_is_held_with_the_same_probability(choice):
    """Reservoir sampling: of 40 examples 10 are held, each about a quarter of the time (binomial, 4.5 sigma)."""
    runs, length, budget = 2000, 40, 10
    counts = torch.zeros(length)
    for seed in range(runs):
        counts[memory_of([0] * length, budget, choice, seed).x.flatten().long()] += 1
    expected, sigma = runs * budget / length, (runs * 0.25 * 0.75) ** 0.5
    assert ((counts - expected).abs() < 4.5 * sigma).all()


@pytest.mark.parametrize("choice", BALANCED)
def test_tasks_that_share_labels_are_balanced_too(choice):
    memory = ExemplarMemory(8, choice, (1,), torch.Generator().manual_seed(0))
    for task in range(4):
        memory.offer(torch.full((50, 1), float(task)), torch.arange(50) % 2, task)
    for task in range(4):
        x, y = memory.of_task(task)
        assert x.unique().tolist() == [task]
        assert sorted(y.tolist()) == [0, 1]


def test_bytes_stay_bytes():
    memory = ExemplarMemory(5, "random", (2, 2), torch.Generator().manual_seed(0))
    memory.offer(torch.full((9, 2, 2), 200, dtype=torch.uint8), torch.zeros(9, dtype=torch.int64), 0)
    assert memory.x.dtype == torch.uint8
    assert memory.stored_bytes == 5 * (4 + 2)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("width", [3, 200], ids=["as they are", "projected"])
def test_a_restored_memory_goes_on_the_same(choice, width):
    x, y = torch.rand(80, width, generator=torch.Generator().manual_seed(2)), torch.arange(80) * 7 % 5 % 4
    whole = ExemplarMemory(9, choice, (width,), torch.Generator().manual_seed(1))
    whole.offer(x, y, 0)
    for cut in (0, 5, 41):  # before anything, before the memory is full, after
        part = ExemplarMemory(9, choice, (width,), torch.Generator().manual_seed(1))
        part.offer(x[:cut], y[:cut], 0)
        resumed = ExemplarMemory(9, choice, (width,), torch.Generator())
        resumed.restore(part.state())
        assert resumed.stored_bytes == part.stored_bytes
        resumed.offer(x[cut:], y[cut:], 0)
        assert torch.equal(whole.x, resumed.x)
        assert torch.equal(whole.y, resumed.y)


@settings(max_examples=30, deadline=None)
@given(choice=st.sampled_from(CHOICES), size=st.integers(1, 40), seed=st.integers(0, 99))
def test_batches_of_any_size_leave_the_same_exemplars(choice, size, seed):
    random = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 256, (40, 150), generator=random, dtype=torch.uint8)
    y = torch.randint(0, 3, (40,), generator=random)
    one_by_one, in_batches = (ExemplarMemory(7, choice, (150,), torch.Generator().manual_seed(seed)) for _ in range(2))
    for example, label in zip(x.split(1), y.split(1), strict=True):
        one_by_one.offer(example, label, 0)
        assert len(one_by_one) <= 7
    for examples, labels in zip(x.split(size), y.split(size), strict=True):
        in_batches.offer(examples, labels, 0)
    assert torch.equal(one_by_one.x, in_batches.x)
    assert one_by_one.y.tolist() == in_batches.y.tolist()
