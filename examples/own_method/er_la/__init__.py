"""Settings of `er-la`: what can be said on the command line. Free of torch, so that help answers at once."""

from dataclasses import dataclass

from merlin_cl.learners import ReplaySettings


@dataclass(frozen=True)
class LogitAdjustedSettings(ReplaySettings):
    """Experience replay with logit-adjusted softmax."""

    method = "er-la"
    learner = "er_la.learner:LogitAdjusted"

    strength: float = 1.0
    """How far logits are adjusted; 0 is plain experience replay."""
