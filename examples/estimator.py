"""Data that arrive in batches, with classes nobody announced: `python examples/estimator.py`, under a minute.

Handwritten digits come two kinds at a time. The classifier keeps up, says how sure it is, is saved and loaded in the middle, and
in the end finds by itself where one task ends and the next begins.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from merlin_cl import MerlinClassifier

TRAINING = 800


def digits() -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    """What arrives, task by task: images [n, 8, 8] of two kinds of digits, and labels. And some of each kind to test on."""
    x, y = load_digits(return_X_y=True)
    x = (15 * x).astype(np.uint8).reshape(-1, 8, 8)
    chosen = [np.flatnonzero(np.isin(y[:TRAINING], pair)) for pair in np.arange(10).reshape(5, 2)]
    return [(x[at], y[at]) for at in chosen], x[TRAINING:], y[TRAINING:]


def main() -> None:
    """Learn, ask, save, load, go on."""
    arriving, x_test, y_test = digits()

    model = MerlinClassifier(models=5)
    with tempfile.TemporaryDirectory() as folder:
        for x, y in arriving:
            for start in range(0, len(y), 50):  # as it comes in
                model.partial_fit(x[start : start + 50], y[start : start + 50])
            model.end_task()
            model = MerlinClassifier.load(model.save(Path(folder) / "digits.safetensors"))
            known = np.isin(y_test, model.classes_)
            print(f"{len(model.classes_):>2} classes: {100 * model.score(x_test[known], y_test[known]):5.1f} %")

    sure = model.uncertainty(x_test).total < 0.5
    print(f"of the {100 * sure.mean():.0f} % it is sure of: {100 * model.score(x_test[sure], y_test[sure]):5.1f} %")

    watching = MerlinClassifier(models=5, boundaries="detected")
    watching.fit(*(np.concatenate(parts) for parts in zip(*arriving, strict=True)))
    groups = [labels.tolist() for labels in watching.task_classes_.values()]
    print(f"tasks that it found by itself: {groups}, {100 * watching.score(x_test, y_test):.1f} %")


if __name__ == "__main__":
    main()
