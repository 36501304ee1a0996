"""What models know of a task: sampled models beside base models, and beside those of the last task.

These figures use test data and serve diagnosis only: nothing that learns or answers sees them.
"""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.networks.bank import Bank
from merlin_cl.tensors import MASKED


def probe(
    sampled: Bank, pair: Bank, base: Bank | None, last: Bank, x: Tensor, y: Tensor, allowed: Tensor
) -> dict[str, float]:
    """Accuracy (%) of models sampled for a task, alone and together, and how much they differ; likewise of base models.

    `diversity` is the share of inputs on which two models disagree, averaged over pairs. `last_ensemble` is what models sampled
    for the last task make of this one: they met it in replay, so that a distribution which gave every task the last one's models
    would score as much. Whether models differ is asked of a `pair` where a single one answers.
    """
    measured = figures("sampled", sampled, x, y, allowed)
    if pair is not sampled:
        measured["sampled_diversity"] = figures("pair", pair, x, y, allowed)["pair_diversity"]
    of_last = measured["sampled_ensemble"] if last is sampled else figures("last", last, x, y, allowed)["last_ensemble"]
    measured["last_ensemble"] = of_last
    return measured if base is None else measured | figures("base", base, x, y, allowed)


@torch.inference_mode()
def figures(name: str, bank: Bank, x: Tensor, y: Tensor, allowed: Tensor) -> dict[str, float]:
    """Accuracy (%) of models together and alone, choosing among `allowed` outputs, and the share of inputs (%) on which two of
    them disagree, averaged over pairs."""
    logits = torch.cat([bank.logits(block) for block in x.split(1000)], dim=1).masked_fill(~allowed, MASKED)
    choices = logits.argmax(dim=-1)  # [M, N]
    together = logits.softmax(dim=-1).mean(dim=0).argmax(dim=-1)
    return {
        f"{name}_ensemble": 100 * float((together == y).float().mean()),
        f"{name}_single": 100 * float((choices == y).float().mean()),
        f"{name}_diversity": 100 * disagreement(choices, len(allowed)),
    }


def disagreement(choices: Tensor, classes: int) -> float:
    """Share of (input, pair of models) on which the two choose differently; choices [M, N].

    >>> round(disagreement(torch.tensor([[0, 1], [0, 1], [0, 2]]), classes=3), 3)  # of six pairs, two choose differently
    0.333
    """
    members = len(choices)
    if members < 2:
        return 0.0
    votes = functional.one_hot(choices, classes).sum(dim=0).double()  # [N, classes]
    agreeing = (votes * (votes - 1)).sum(dim=-1) / (members * (members - 1))
    return float(1 - agreeing.mean())


def relative_error(sampled: Tensor, base: Tensor) -> float:
    """The distance of the sampled models' mean from the base models', [M, P] each, over the length of the latter: 1 is what
    zeros have."""
    wanted = base.mean(dim=0)
    return float((sampled.mean(dim=0) - wanted).norm() / wanted.norm())
