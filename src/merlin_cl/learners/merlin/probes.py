"""Does the weight distribution hold the tasks? Sampled models are compared with base models, none of them fine-tuned.

These figures use test data and serve diagnosis only: nothing that learns or answers sees them.
"""

import torch
from torch import Tensor

from merlin_cl.learners.merlin.chunks import ChunkCode, representatives
from merlin_cl.learners.merlin.settings import Summary
from merlin_cl.networks.bank import Bank


def probe(
    sampled: Bank, base: Bank | None, code: ChunkCode, summary: Summary, x: Tensor, y: Tensor, allowed: Tensor
) -> dict[str, float]:
    """Accuracy (%) of models sampled for a task, alone and together, and how much they differ; likewise of base models.

    `diversity` is the share of inputs on which two models disagree, averaged over pairs. `relative_error` is the distance
    of the sampled models' mean from what stands for the base models, over the length of the latter's offset.
    """
    figures = _figures("sampled", sampled, x, y, allowed)
    if base is not None:
        figures |= _figures("base", base, x, y, allowed)
        wanted = representatives(code.cut(base.weights), summary).mean(dim=0)
        found = code.cut(sampled.weights).mean(dim=0)
        figures["relative_error"] = float((found - wanted).norm() / wanted.norm().clamp(min=1e-12))
    return figures


@torch.inference_mode()
def _figures(name: str, bank: Bank, x: Tensor, y: Tensor, allowed: Tensor) -> dict[str, float]:
    logits = torch.cat([bank.logits(block) for block in x.split(1000)], dim=1).masked_fill(~allowed, -1e10)
    choices = logits.argmax(dim=-1)  # [M, N]
    together = logits.softmax(dim=-1).mean(dim=0).argmax(dim=-1)
    return {
        f"{name}_ensemble": 100 * float((together == y).float().mean()),
        f"{name}_single": 100 * float((choices == y).float().mean()),
        f"{name}_diversity": 100 * _disagreement(choices, len(allowed)),
    }


def _disagreement(choices: Tensor, classes: int) -> float:
    """Share of (input, pair of models) on which the two choose differently; choices [M, N]."""
    members = len(choices)
    if members < 2:
        return 0.0
    votes = torch.nn.functional.one_hot(choices, classes).sum(dim=0).double()  # [N, classes]
    agreeing = (votes * (votes - 1)).sum(dim=-1) / (members * (members - 1))
    return float(1 - agreeing.mean())
