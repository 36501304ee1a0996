"""Small files of saved learners as this version writes them, which every later version is to read, or to refuse clearly.

    python tools/golden_files.py [FOLDER]      # at a release; tests/learners/saving/golden/VERSION unless told otherwise

Beside each file, a JSON file has inputs and what the learner answered to them. Files of a version that is there are never
written again: a test reads them for ever.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from merlin_cl import ContinualClassifier, __version__

GOLDEN = Path(__file__).parent.parent / "tests" / "learners" / "saving" / "golden"
CENTRES = np.random.default_rng(99).normal(0, 2, (12, 6)).round(2)
NAMES = np.array(["ash", "beech", "elm", "fir", "oak", "yew"])
LEARNING = {"learning_rate": 0.03, "updates_per_batch": 5}
METHODS: dict[str, dict[str, Any]] = {
    "er": {"exemplars": 6, **LEARNING},
    "der++": {"exemplars": 6, **LEARNING},
    "slda": {"width": 16},
    "icarl": {"exemplars": 6, **LEARNING},
    "ewc": LEARNING,
    "gdumb": {"exemplars": 12},
    "lookup": {"exemplars": 12, "models": 2, "base_models": 2, **LEARNING},
    "merlin": {"exemplars": 12, "models": 2, "base_models": 2, "latent": 40, **LEARNING},
}


def main() -> None:
    """Write what is missing."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN / __version__
    if folder.exists():
        sys.exit(f"{folder} is there, and what was written once is not written again.")
    folder.mkdir(parents=True)
    torch.set_num_threads(1)
    asked = clouds(0, 1, 2, 3, count=8, seed=9)[0]
    for method, settings in METHODS.items():
        keep(folder / method, learned(method, settings), asked)
    keep(folder / "er-detected", detected(), asked)
    keep(folder / "er-mixed-table", mixed(), None)
    keep(folder / "table-of-a-run", of_a_run(), 1000 + 50 * asked)


def clouds(*classes: int, count: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of clouds, well apart, in random order; and which cloud each is of."""
    draws = np.random.default_rng(seed)
    y = draws.permutation(np.resize(np.array(classes), count))
    return (CENTRES[y] + draws.normal(0, 0.3, (count, 6))).round(3).astype(np.float32), y


def learned(method: str, settings: dict[str, Any]) -> ContinualClassifier:
    """Two tasks, one of which comes back; er is kept in the middle of it."""
    model = ContinualClassifier(
        method, settings={"hidden_units": (4,), **settings}, expected_tasks=3, calibration=10 if method == "er" else 0
    )
    for task, group in (("spring", (0, 1)), ("autumn", (2, 3)), ("spring", (0, 1))):
        x, y = clouds(*group)
        model.partial_fit(x, NAMES[y], task=task)
    return model if method == "er" else model.end_task()


def detected() -> ContinualClassifier:
    """Boundaries that nobody told."""
    model = ContinualClassifier("er", settings={"hidden_units": (4,), **METHODS["er"]}, boundaries="detected")
    for group in ((0, 1), (2, 3)):
        model.partial_fit(*clouds(*group, count=120))
    return model


def mixed() -> ContinualClassifier:
    """Texts, gaps and weights."""
    import pandas

    x, y = clouds(0, 1)
    frame = pandas.DataFrame({"kind": np.array(["a", "b"])[y], "size": np.where(np.arange(40) % 5, x[:, 0], np.nan)})
    model = ContinualClassifier("er", settings={"hidden_units": (4,), **METHODS["er"]}, missing="mean")
    return model.partial_fit(frame, NAMES[y], sample_weight=np.full(40, 0.7))


def of_a_run() -> ContinualClassifier:
    """What `merlin run` leaves behind of a table."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "trees.csv"
        x, y = clouds(0, 1, 2, 3, count=80)
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*"abcdef", "label"])
            writer.writerows([*(1000 + 50 * row).round(2).tolist(), NAMES[at]] for row, at in zip(x, y, strict=True))
        options = ["--tasks", "2", "--method", "er", "--hidden-units", "4", "--exemplars", "6", "--out", folder]
        command = [sys.executable, "-m", "merlin_cl.cli", "run", str(table), *options, "--learning-rate", "0.03"]
        subprocess.run(command, check=True, capture_output=True)
        (run,) = Path(folder).glob("trees-*")
        return ContinualClassifier.load(run / "model.safetensors")


def keep(path: Path, model: ContinualClassifier, asked: np.ndarray | None) -> None:
    """Write a file, and what it answers; None: to rows of the mixed table."""
    model.save(path.with_suffix(".safetensors"))
    if asked is None:
        import pandas

        inputs: Any = {"kind": ["a", "b", "c"], "size": [1.0, -1.0, None]}
        answers = model.predict_proba(pandas.DataFrame(inputs))
    else:
        inputs, answers = asked.tolist(), model.predict_proba(torch.from_numpy(asked))
    record = {"inputs": inputs, "probabilities": answers.round(6).tolist(), "tasks": model.tasks_}
    path.with_suffix(".json").write_text(json.dumps({**record, "classes": model.classes_.tolist()}) + "\n")


if __name__ == "__main__":
    main()
