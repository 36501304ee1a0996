"""All data at once: a ceiling, whatever the batches."""

import torch

from merlin_cl.learners.rivals.joint_settings import JointSettings


def test_joint_keeps_everything_and_says_what_that_takes(tiny):
    learner = tiny.learn(JointSettings(epochs=1).build(tiny.stream, seed=0))
    assert learner.stored_bytes()["all_examples"] == 2 * 6 * 5 * (3 * 4 + 1)


def test_joint_does_not_depend_on_how_examples_came_in_batches(tiny):
    x, y = (torch.cat(parts) for parts in zip(*(tiny.batch(0) for _ in range(6)), strict=True))
    answers = []
    for size in (1, 30):
        learner = JointSettings(epochs=2).build(tiny.stream, seed=0)
        learner.begin(tiny.tasks[0])
        for start in range(0, 30, size):
            learner.observe(x[start : start + size], y[start : start + size])
        learner.end()
        answers.append(learner.logits(x))
    assert torch.equal(*answers)
