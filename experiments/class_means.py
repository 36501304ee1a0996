"""What class means have to say beside MERLIN's networks on tables and embeddings: nothing, of tasks, or of their classes as well.

    python experiments/class_means.py
    python -m tools.pages method

MERLIN learns every set of vectors of the panel once for each seed; the same learner then answers with each share. How much they
have to say (`OF_CLASSES`) was chosen on `held_out`; `test` is what is shown. Percent right, and NLL in nats.
"""

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from panel import learned
from panel_data import SETS, Examples, PanelSet, available

from merlin_cl import ContinualClassifier
from merlin_cl.learners.merlin import evidence
from merlin_cl.metrics.uncertainty import negative_log_likelihood
from merlin_cl.statefile import write_whole

RESULTS = Path(__file__).parent / "results" / "class_means.json"
SEEDS = range(5)
SHARES = {
    "nothing": (0.0, 0.0),
    "tasks": (evidence.OF_TASKS, 0.0),
    "classes": (evidence.OF_TASKS, evidence.OF_CLASSES),
}
TRIED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Of classes, on held-out rows."""


def main() -> None:
    """Measure all sets, and write what came out."""
    torch.set_num_threads(1)
    cells = []
    for name in available():
        data = SETS[name]()
        for seed in SEEDS:
            model = learned(data, "merlin", seed)
            if getattr(model.learner_, "evidence", None) is None:  # images, and tasks that share their classes
                break
            cells.append({"set": name, "seed": seed, **measured(model, data)})
            print(json.dumps(cells[-1]), flush=True)
            write_whole(RESULTS, ("[\n" + ",\n".join(map(json.dumps, cells)) + "\n]\n").encode())


def measured(model: ContinualClassifier, data: PanelSet) -> dict[str, Any]:
    """The answers of one learner with all shares."""
    held_out = {f"{share}": answered(model, data.held_out, evidence.OF_TASKS, share) for share in TRIED}
    return {
        "test": {name: answered(model, data.test, *shares) for name, shares in SHARES.items()},
        "held_out": held_out,
    }


def answered(model: ContinualClassifier, part: Examples, of_tasks: float, of_classes: float) -> list[float]:
    """Percent right and NLL, with so much to say of tasks and classes."""
    with mock.patch.multiple(evidence, OF_TASKS=of_tasks, OF_CLASSES=of_classes):
        probabilities = model.predict_proba(part.x)
    places = np.searchsorted(model.classes_, part.y)
    right = float((probabilities.argmax(axis=1) == places).mean())
    return [round(100 * right, 2), round(negative_log_likelihood(probabilities, places), 4)]


if __name__ == "__main__":
    main()
