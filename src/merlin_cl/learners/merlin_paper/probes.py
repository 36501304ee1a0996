"""What the weight distribution holds of a task: sampled models beside base models, none of them fine-tuned.

These figures use test data and serve diagnosis only: nothing that learns or answers sees them.
"""

import torch
from torch import Tensor

from merlin_cl.networks.bank import MASKED, Bank


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
        f"{name}_diversity": 100 * _disagreement(choices, len(allowed)),
    }


def relative_error(sampled: Tensor, base: Tensor) -> float:
    """The distance of the sampled models' mean from the base models', [M, P] each, over the length of the latter: 1 is what
    zeros have."""
    wanted = base.mean(dim=0)
    return float((sampled.mean(dim=0) - wanted).norm() / wanted.norm())


def _disagreement(choices: Tensor, classes: int) -> float:
    members = len(choices)
    if members < 2:
        return 0.0
    votes = torch.nn.functional.one_hot(choices, classes).sum(dim=0).double()  # [N, classes]
    agreeing = (votes * (votes - 1)).sum(dim=-1) / (members * (members - 1))
    return float(1 - agreeing.mean())
