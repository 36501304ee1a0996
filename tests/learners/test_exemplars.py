"""The memory never exceeds its budget, and holds what its name promises."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.exemplars import ExemplarMemory


def memory_of(labels, budget, choice, seed=0, task=0):
    """Each example is its own position in the stream, so that what is held can be told."""
    memory = ExemplarMemory(budget, choice, (1,), torch.Generator().manual_seed(seed))
    x = torch.arange(len(labels), dtype=torch.float32).unsqueeze(1)
    memory.offer(x, torch.tensor(labels, dtype=torch.int64), task)
    return memory


streams = st.lists(st.integers(0, 3), max_size=60)


@settings(max_examples=60, deadline=None)
@given(
    labels=streams, budget=st.integers(1, 20), choice=st.sampled_from(["random", "balanced"]), seed=st.integers(0, 99)
)
def test_holds_distinct_examples_of_the_stream_up_to_its_budget(labels, budget, choice, seed):
    memory = memory_of(labels, budget, choice, seed)
    held = memory.x.flatten().long().tolist()
    assert len(memory) == min(budget, len(labels))
    assert len(set(held)) == len(held)
    assert memory.y.tolist() == [labels[position] for position in held]


@settings(max_examples=60, deadline=None)
@given(labels=streams, budget=st.integers(1, 20), seed=st.integers(0, 99))
def test_balanced_classes_differ_by_one_unless_the_stream_had_too_few(labels, budget, seed):
    held, seen = Counter(memory_of(labels, budget, "balanced", seed).y.tolist()), Counter(labels)
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


def test_tasks_that_share_labels_are_balanced_too():
    memory = ExemplarMemory(8, "balanced", (1,), torch.Generator().manual_seed(0))
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


@pytest.mark.parametrize("choice", ["random", "balanced"])
def test_a_restored_memory_goes_on_the_same(choice):
    x, y = torch.rand(80, 3), torch.randint(0, 4, (80,))
    whole = ExemplarMemory(7, choice, (3,), torch.Generator().manual_seed(1))
    whole.offer(x, y, 0)
    half = ExemplarMemory(7, choice, (3,), torch.Generator().manual_seed(1))
    half.offer(x[:41], y[:41], 0)
    resumed = ExemplarMemory(7, choice, (3,), torch.Generator())
    resumed.restore(half.state())
    resumed.offer(x[41:], y[41:], 0)
    assert torch.equal(whole.x, resumed.x)
    assert torch.equal(whole.y, resumed.y)
