"""SCR's loss against its definition, its second view, and its answers."""

import torch
from torch.nn import functional

from merlin_cl.learners.rivals.scr import contrastive
from merlin_cl.learners.rivals.scr_settings import SCRSettings
from merlin_cl.protocol import StreamInfo


def test_the_loss_is_its_definition():
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = torch.tensor([0, 0, 1, 1, 1, 2, 0])  # class 2 is alone
    unit = functional.normalize(z, dim=1)
    losses = []
    for i in range(7):
        positives = [j for j in range(7) if j != i and y[j] == y[i]]
        others = [j for j in range(7) if j != i]
        total = sum(torch.exp(unit[i] @ unit[j] / 0.1) for j in others)
        if positives:
            losses.append(
                -sum(torch.log(torch.exp(unit[i] @ unit[j] / 0.1) / total) for j in positives) / len(positives)
            )
    torch.testing.assert_close(contrastive(z, y, 0.1), torch.stack(losses).mean())


def test_the_loss_has_a_finite_gradient_even_where_a_class_is_alone():
    z = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    (gradient,) = torch.autograd.grad(contrastive(z, torch.tensor([0, 1, 2, 3]), 0.1), z)
    assert (gradient == 0).all()


def test_the_second_view_is_the_image_moved():
    stream = StreamInfo("images", (2, 6, 5), 4, 1)
    learner = SCRSettings(shift=2).build(stream, seed=0)
    x = torch.zeros(200, 2, 6, 5)
    x[:, 0, 3, 2] = 1
    moved = learner._shifted(x)
    assert moved.shape == x.shape
    rows, columns = moved[:, 0].flatten(1).argmax(1) // 5, moved[:, 0].flatten(1).argmax(1) % 5
    assert (moved.sum(dim=(1, 2, 3)) == 1).all()
    assert set(rows.tolist()) == {1, 2, 3, 4, 5}
    assert set(columns.tolist()) == {0, 1, 2, 3, 4}
    assert (moved[:, 1] == 0).all()


def test_classes_are_drawn_together_and_apart(tiny):
    learner = SCRSettings(temperature=0.5, exemplars=40).build(tiny.stream, seed=0)
    x, y = (torch.cat(parts) for parts in zip(tiny.batch(0, size=40), tiny.batch(1, size=40), strict=True))

    def gap():
        unit = functional.normalize(learner.bank.logits(x)[0], dim=1)  # projections
        similarity, same = unit @ unit.T, y[:, None] == y[None, :]
        return float(similarity[same].mean() - similarity[~same].mean())

    before = gap()
    tiny.learn(learner, batches=40)
    assert gap() > before + 0.1
