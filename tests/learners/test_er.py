"""Experience replay learns from what arrives and from what was kept, and from nothing twice."""

import torch

from merlin_cl.learners.control_settings import SingleSettings
from merlin_cl.learners.rival_settings import ERSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

STREAM = StreamInfo("tiny", input_shape=(3,), classes=4, tasks=2)


def stream_of(learner, batches=6, size=5):
    generator = torch.Generator().manual_seed(0)
    for task in (TaskInfo(0, (0, 1)), TaskInfo(1, (2, 3))):
        learner.begin(task)
        for _ in range(batches):
            y = torch.tensor(task.classes)[torch.randint(0, 2, (size,), generator=generator)]
            learner.observe(torch.randn(size, 3, generator=generator), y)
        learner.end()
    return learner


def test_without_replay_it_is_a_single_network():
    x = torch.randn(9, 3, generator=torch.Generator().manual_seed(1))
    plain = stream_of(SingleSettings(weight_decay=0.0).build(STREAM, seed=0))
    without = stream_of(ERSettings(replay=0).build(STREAM, seed=0))
    assert torch.equal(plain.logits(x), without.logits(x))


def test_a_batch_is_followed_by_exemplars_that_are_not_of_it(monkeypatch):
    learner = ERSettings(replay=4, exemplars=30, updates_per_batch=2).build(STREAM, seed=0)
    seen, step = [], learner._training.step
    monkeypatch.setattr(learner._training, "step", lambda x, y, allowed: (seen.append(x), step(x, y, allowed)))
    stream_of(learner)
    assert [len(x) for x in seen[:4]] == [5, 5, 9, 9]
    for x in seen:
        assert len(x.unique(dim=0)) == len(x)
    assert not torch.equal(seen[4][5:], seen[5][5:])  # each update draws anew
