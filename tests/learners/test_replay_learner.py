"""What every replay method has: exemplars drawn without replacement, from all or from some."""

import torch

from merlin_cl.checks.clouds import STREAM, TASKS, examples
from merlin_cl.learners.rivals.er_settings import ERSettings


def learner(exemplars=12):
    made = ERSettings(hidden_units=(8,), exemplars=exemplars, replay=5, updates_per_batch=1).build(STREAM, seed=0)
    made.begin(TASKS[0])
    made.observe(*examples(TASKS[0]))
    return made


def test_no_exemplar_is_drawn_twice_and_none_that_is_not_there():
    made = learner()
    for count in (1, 5, 12, 50):
        places = made.drawn(count)
        assert len(places) == len(places.unique()) == min(count, len(made.memory))
        assert bool((places < len(made.memory)).all())


def test_some_may_be_named_to_draw_from():
    made, candidates = learner(), torch.tensor([1, 4, 6])
    assert set(made.drawn(9, candidates).tolist()) == {1, 4, 6}
    assert set(made.drawn(2, candidates).tolist()) < {1, 4, 6}


def test_examples_come_first_and_exemplars_after_them():
    made = learner()
    x, y = examples(TASKS[0])
    both_x, both_y = made.with_replay(x[:3], y[:3])
    assert len(both_y) == 3 + 5
    assert torch.equal(both_x[:3], x[:3])
    assert set(both_y[3:].tolist()) <= set(made.memory.y.tolist())


def test_without_exemplars_there_is_nothing_to_add():
    made = ERSettings(hidden_units=(8,)).build(STREAM, seed=0)
    made.begin(TASKS[0])
    x, y = examples(TASKS[0])
    assert made.with_replay(x, y) == (x, y)
