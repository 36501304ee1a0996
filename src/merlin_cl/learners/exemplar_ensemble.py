"""Fitting an ensemble to the exemplars: MERLIN fine-tunes sampled models so, its control fresh ones.

Shared by both, so that they differ in nothing but where their networks come from.
"""

import torch
from torch import Tensor

from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.learner import as_float
from merlin_cl.learners.phases import Phases
from merlin_cl.networks.bank import Bank, Training


def fine_tune(
    bank: Bank,
    x: Tensor,
    y: Tensor,
    allowed: Tensor,
    settings: EnsembleSettings,
    generator: torch.Generator,
    phases: Phases,
) -> None:
    """Train every member on the exemplars x [n, *input_shape], y [n], each in an order of its own."""
    count, size = len(y), settings.fine_tune_batch
    if count == 0 or settings.fine_tune_epochs == 0:
        return
    inputs = as_float(x)
    training = Training(bank, settings.fine_tune_rate)
    batches = -(-count // size)
    for _ in phases.steps("infer", range(settings.fine_tune_epochs), settings.fine_tune_epochs):
        order = torch.rand(bank.members, count, generator=generator).argsort(dim=1).to(y.device)  # [M, n]
        for batch in range(batches):
            chosen = order[:, batch * size : (batch + 1) * size]
            training.step(inputs[chosen], y[chosen], allowed)
