"""Settings that went away, and what became of them: so that old run folders, saved files and results say what reads them."""

from collections.abc import Mapping
from typing import Any

from merlin_cl.errors import MerlinError

FIRST_MERLIN = "of the merlin of version 0.1, a look-up of one compressed network a task, whose control `lookup` is now"
RECIPE = "of the paper's recipe, which is the method merlin-paper now"
CONSTANT = "which is the same for all now"

RETIRED: dict[str, dict[str, str]] = {
    "merlin": {
        **dict.fromkeys(
            ["sampling", "sampling_rate", "averaging", "rank", "precision", "summary", "task_models", "aware_epochs"],
            FIRST_MERLIN,
        ),
        **dict.fromkeys(
            [
                *[
                    "weight_decay",
                    "decoupled_decay",
                    "base_classes",
                    "code",
                    "layout",
                    "chunk",
                    "statistics",
                    "scale_chunks",
                ],
                *[
                    "vae",
                    "decoder",
                    "latent_per",
                    "hidden",
                    "embedding",
                    "prior",
                    "vae_optimiser",
                    "vae_rate",
                    "vae_steps",
                ],
                *["vae_chunks", "vae_batch", "vae_epochs", "kl_weight", "classification_loss", "pseudo_models"],
            ],
            RECIPE,
        ),
        "fine_tune_batch": CONSTANT,
        "vote": CONSTANT,
    },
    "gdumb-ensemble": {"fine_tune_batch": CONSTANT},
    "gdumb": {"fine_tune_batch": CONSTANT},
}
"""By method and setting: what it belonged to, or is now."""
HARMLESS: dict[str, object] = {"fine_tune_batch": 20, "vote": "mean-probability"}
"""Settings that are gone because they had one value; a record that has this value means what it meant."""
LAST_VERSION = "0.1.0"
"""The last version of the package that had the others."""


def harmless(method: str, name: str, value: object) -> bool:
    """Whether a setting of a method is gone, and had the value that all have now."""
    return name in RETIRED.get(method, {}) and name in HARMLESS and HARMLESS[name] == value


def without_retired(place: str, method: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of settings at some place without those that have gone and had no influence; others that have gone are refused.

    >>> without_retired("config.json", "gdumb", {"exemplars": 50, "fine_tune_batch": 20})
    {'exemplars': 50}
    >>> without_retired("config.json", "merlin", {"exemplars": 50, "chunk": 300})
    Traceback (most recent call last):
        ...
    merlin_cl.errors.MerlinError: config.json has the setting 'chunk' of the paper's recipe, which is the method merlin-paper \
now; merlin-cl 0.1.0 reads it.
    """
    gone = RETIRED.get(method, {})
    for name, value in record.items():
        if name in gone and not harmless(method, name, value):
            joined = f", {gone[name]}" if gone[name].startswith("which") else f" {gone[name]}"
            raise MerlinError(f"{place} has the setting {name!r}{joined}; merlin-cl {LAST_VERSION} reads it.")
    return {name: value for name, value in record.items() if name not in gone}
