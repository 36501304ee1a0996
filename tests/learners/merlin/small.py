"""A MERLIN small enough for a test, and what it is taught."""

from merlin_cl.checks.clouds import STREAM, TASKS, everything, examples, learn, learned
from merlin_cl.learners.merlin.settings import MerlinSettings

__all__ = ["SMALL", "STREAM", "TASKS", "everything", "examples", "learn", "learned"]

SMALL = MerlinSettings(
    hidden_units=(16,), exemplars=12, models=6, base_models=3, learning_rate=2e-2, updates_per_batch=8, replay=4, rehearse=0,
    latent=150,
)  # fmt: skip
