"""Rare classes: what a method knows of them, and what that costs where classes are asked about as often as they came.

    python experiments/rare.py
    python -m tools.pages choose

The panel's set `rare`: every task has a class of 200 examples and one of ten. Its test part has all classes alike, so half
of what is asked there is about a twentieth of what was learned. Percent of the test part, three seeds.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from panel import learned
from panel_data import rare

from merlin_cl.statefile import write_whole

METHODS = ("merlin", "lookup", "gdumb-ensemble", "slda")
SEEDS = (0, 1, 2)
RESULTS = Path(__file__).parent / "results" / "rare.json"


def main() -> None:
    """Measure all methods, and write what came out."""
    torch.set_num_threads(1)
    cells = [{"method": method, "seed": seed, **measured(method, seed)} for method in METHODS for seed in SEEDS]
    write_whole(RESULTS, ("[\n" + ",\n".join(map(json.dumps, cells)) + "\n]\n").encode())


def measured(method: str, seed: int) -> dict[str, float]:
    """How much of the test part a method knows, weighed in four ways."""
    data = rare()
    came = dict(zip(*np.unique(np.concatenate([task.y for task in data.tasks]), return_counts=True), strict=True))
    right = learned(data, method, seed).predict(data.test.x) == data.test.y
    often = np.array([came[label] for label in data.test.y])
    few = often < np.median(often)
    ways = {"alike": np.ones_like(often), "as_they_came": often, "frequent": ~few, "rare": few}
    shares = {name: _percent(right, weights) for name, weights in ways.items()}
    print(method, seed, shares, flush=True)
    return shares


def _percent(right: Sequence[bool], weights: Sequence[float]) -> float:
    return round(100 * float(np.average(right, weights=weights)), 2)


if __name__ == "__main__":
    main()
