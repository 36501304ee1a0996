"""Do sets of labels cover what was asked, and are classes not seen yet strange: on four streams, after every task.

    python experiments/refusing.py --methods slda er merlin --out results/refusing

An estimator learns a stream task by task, of 2,000 images each, and holds back 1,000 examples; of the digits, what it can.
After each task its sets are compared with the labels of test examples of all tasks so far, 1,000 of each drawn at random (the
first of MNIST's are harder than the others), and after the last one with those of 1,000 training images of each task that it
has not seen. `novelty` is asked about known classes and about those that come later. A run whose file is there is not done
again.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from merlin_cl import ContinualClassifier
from merlin_cl.streams import stream_settings

STREAMS = ("split-mnist", "permuted-mnist", "split-fashion-mnist", "digits")
COVERAGES = (0.8, 0.9, 0.95)
HELD, IMAGES, TEST = 1_000, 2_000, 1_000
SEEDS = {"digits": 20}
"""How many, where it is not three: of digits fewer are held back and asked, and a run takes seconds."""
Part = tuple[np.ndarray, np.ndarray]


def main() -> None:
    """Measure what is missing, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", default=STREAMS)
    parser.add_argument("--methods", nargs="+", default=["slda", "er", "merlin"])
    parser.add_argument("--seeds", nargs="+", type=int, help="all that are on the page where none are given")
    parser.add_argument("--out", type=Path, default=Path("results/refusing"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for stream in options.streams:
        for seed in options.seeds or range(SEEDS.get(stream, 3)):
            for method in options.methods:
                file = options.out / f"{stream}-{method}-s{seed}.json"
                if not file.is_file():
                    record = measured(stream, method, seed)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps(record) + "\n")
                print(file.name, json.loads(file.read_text())["last"], flush=True)


def tasks(stream: str, seed: int) -> Iterator[tuple[Part, Part, Part]]:
    """What is learned, what is asked and training examples that are left over, of every task."""
    if stream == "digits":
        x, y = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(y))
        x, y = (x[order] / 16).astype(np.float32), y[order]
        for first in range(0, 10, 2):
            chosen = (y == first) | (y == first + 1)
            half = int(0.7 * chosen.sum())
            yield (x[chosen][:half], y[chosen][:half]), (x[chosen][half:], y[chosen][half:]), (x[:0], y[:0])
        return
    short = {"tasks": 5} if stream == "permuted-mnist" else {}
    for task in stream_settings(stream)(images_per_task=IMAGES + TEST, **short).build(seed):
        batches = list(task.batches(100))
        x, y = (torch.cat(parts).numpy() for parts in zip(*batches, strict=True))
        test_x, test_y = task.test()
        drawn = torch.randperm(len(test_y), generator=torch.Generator().manual_seed(seed))[:TEST]
        test_x, test_y = test_x[drawn].numpy(), test_y[drawn].numpy()
        yield (x[:IMAGES], y[:IMAGES]), (test_x, test_y), (x[IMAGES:], y[IMAGES:])


def measured(stream: str, method: str, seed: int) -> dict[str, Any]:
    """Coverage and size of sets after every task, and how well later classes are told."""
    domains = stream == "permuted-mnist"
    begun = time.process_time()
    parts = list(tasks(stream, seed))
    model = ContinualClassifier(
        method,
        scenario="domain-incremental" if domains else "class-incremental",
        expected_tasks=len(parts),
        calibration=HELD,
        random_state=seed,
    )
    after: list[dict[str, Any]] = []
    for number, ((x, y), _, _) in enumerate(parts):
        model.partial_fit(x, y, task=number).end_task()
        asked_x, asked_y = joined([test for _, test, _ in parts[: number + 1]])
        record: dict[str, Any] = {
            "held": len(model._calibration),
            "asked": len(asked_y),
            "accuracy": model.score(asked_x, asked_y),
        }
        for coverage in COVERAGES:
            record[f"coverage {coverage}"], record[f"labels {coverage}"] = covered(model, asked_x, asked_y, coverage)
        later = [test[0] for _, test, _ in parts[number + 1 :]]
        if later and not domains:
            known, strange = model.novelty(asked_x), model.novelty(np.concatenate(later))
            truth = np.repeat([0, 1], [len(known), len(strange)])
            record["auroc"] = float(roc_auc_score(truth, np.concatenate([known, strange])))
            confidence = [-model.predict_proba(some).max(axis=1) for some in (asked_x, np.concatenate(later))]
            record["auroc of confidence"] = float(roc_auc_score(truth, np.concatenate(confidence)))
            record["above 0.95"] = float((known > 0.95).mean())
        after.append(record)
    left_x, left_y = joined([left for *_, left in parts])
    if len(left_y):
        after[-1] |= {
            f"coverage {coverage} in training": covered(model, left_x, left_y, coverage)[0] for coverage in COVERAGES
        }
    return {
        "stream": stream,
        "method": method,
        "seed": seed,
        "cpu": time.process_time() - begun,
        "after": after,
        "last": after[-1],
    }


def joined(parts: list[Part]) -> Part:
    """The examples of several parts."""
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    return x, y


def covered(model: ContinualClassifier, x: np.ndarray, y: np.ndarray, coverage: float) -> tuple[float, float]:
    """The share of labels that are in their sets, and how many labels a set has on average."""
    sets = model.predict_set(x, coverage)
    columns = np.searchsorted(model.classes_, y)
    return float(sets[np.arange(len(columns)), columns].mean()), float(sets.sum(axis=1).mean())


if __name__ == "__main__":
    main()
