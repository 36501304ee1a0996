"""MIR replays the exemplars whose loss the arriving batch would raise most, and only foresees that it would."""

import torch
from torch.nn import functional

from merlin_cl.learners.rivals.mir_settings import MIRSettings


def test_the_most_interfered_are_replayed(tiny, monkeypatch):
    learner = MIRSettings(candidates=100, replay=6, exemplars=40, learning_rate=1e-2).build(tiny.stream, seed=0)
    tiny.learn(learner, batches=20, end=False)
    x, y = tiny.batch(1)

    # By hand, on a learner of the same state: the loss of every exemplar before and after a step on the batch alone.
    twin = MIRSettings(candidates=100, replay=6, exemplars=40, learning_rate=1e-2).build(tiny.stream, seed=0)
    twin.restore(learner.state())

    def losses():
        return functional.cross_entropy(twin.bank.logits(twin.memory.x)[0], twin.memory.y, reduction="none")

    before = losses()
    twin.training.step(x, y, torch.ones(4, dtype=torch.bool))
    expected = (losses() - before).topk(6).indices

    stepped = []
    step = learner.training.step
    monkeypatch.setattr(learner.training, "step", lambda x, y, allowed: (stepped.append((x, y)), step(x, y, allowed)))
    learner._update(x, y)
    ((inputs, labels),) = stepped
    assert torch.equal(inputs[:5], x)
    chosen = {tuple(row) for row in inputs[5:].tolist()}
    assert chosen == {tuple(row) for row in learner.memory.x[expected].tolist()}
    assert sorted(labels[5:].tolist()) == sorted(learner.memory.y[expected].tolist())


def test_foreseeing_changes_nothing(tiny):
    learner = tiny.learn(MIRSettings().build(tiny.stream, seed=0), end=False)
    before, optimiser = learner.bank.weights.clone(), learner.training.state()
    learner._interference(*tiny.batch(1), *learner.exemplars_at(learner.drawn(50)))
    assert torch.equal(before, learner.bank.weights)
    for name, value in learner.training.state().items():
        assert torch.equal(value, optimiser[name])
