"""Do sets of labels cover what was asked, and are classes not seen yet strange: on four streams, after every task.

    python experiments/refusing.py --methods slda er merlin --out results/refusing

An estimator learns a stream task by task, of 2,000 images each, and holds back 500 examples. After each task its sets are
compared with the labels of test examples of all tasks so far, 1,000 of each drawn at random (the first of MNIST's are harder than
the others), and `novelty` is asked about these and about classes that come later. A run whose file is there is not done again.
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
HELD, IMAGES, TEST = 500, 2_000, 1_000
Part = tuple[np.ndarray, np.ndarray]


def main() -> None:
    """Measure what is missing, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", default=STREAMS)
    parser.add_argument("--methods", nargs="+", default=["slda", "er", "merlin"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("results/refusing"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for seed in options.seeds:
        for stream in options.streams:
            for method in options.methods:
                file = options.out / f"{stream}-{method}-s{seed}.json"
                if not file.is_file():
                    record = measured(stream, method, seed)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps(record) + "\n")
                print(file.name, json.loads(file.read_text())["last"], flush=True)


def tasks(stream: str, seed: int) -> Iterator[tuple[Part, Part]]:
    """What is learned and what is asked, of every task."""
    if stream == "digits":
        x, y = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(y))
        x, y = (x[order] / 16).astype(np.float32), y[order]
        for first in range(0, 10, 2):
            chosen = (y == first) | (y == first + 1)
            half = int(0.7 * chosen.sum())
            yield (x[chosen][:half], y[chosen][:half]), (x[chosen][half:], y[chosen][half:])
        return
    short = {"tasks": 5} if stream == "permuted-mnist" else {}
    for task in stream_settings(stream)(images_per_task=IMAGES, **short).build(seed):
        batches = list(task.batches(100))
        x, y = (torch.cat(parts).numpy() for parts in zip(*batches, strict=True))
        test_x, test_y = task.test()
        drawn = torch.randperm(len(test_y), generator=torch.Generator().manual_seed(seed))[:TEST]
        test_x, test_y = test_x[drawn].numpy(), test_y[drawn].numpy()
        yield (x, y), (test_x, test_y)


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
    for number, ((x, y), _) in enumerate(parts):
        model.partial_fit(x, y, task=number).end_task()
        asked_x, asked_y = (
            np.concatenate(each) for each in zip(*(test for _, test in parts[: number + 1]), strict=True)
        )
        columns = np.searchsorted(model.classes_, asked_y)
        record: dict[str, Any] = {"held": len(model._calibration), "accuracy": model.score(asked_x, asked_y)}
        for coverage in COVERAGES:
            sets = model.predict_set(asked_x, coverage)
            record[f"coverage {coverage}"] = float(sets[np.arange(len(columns)), columns].mean())
            record[f"labels {coverage}"] = float(sets.sum(axis=1).mean())
        later = [test[0] for _, test in parts[number + 1 :]]
        if later and not domains:
            known, strange = model.novelty(asked_x), model.novelty(np.concatenate(later))
            truth = np.repeat([0, 1], [len(known), len(strange)])
            record["auroc"] = float(roc_auc_score(truth, np.concatenate([known, strange])))
            confidence = [-model.predict_proba(some).max(axis=1) for some in (asked_x, np.concatenate(later))]
            record["auroc of confidence"] = float(roc_auc_score(truth, np.concatenate(confidence)))
            record["above 0.95"] = float((known > 0.95).mean())
        after.append(record)
    return {
        "stream": stream,
        "method": method,
        "seed": seed,
        "cpu": time.process_time() - begun,
        "after": after,
        "last": after[-1],
    }


if __name__ == "__main__":
    main()
