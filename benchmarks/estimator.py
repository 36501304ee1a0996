"""How quick the estimator is on Split MNIST: learning, preparing, answering, saving; and what a distilled network keeps.

    python benchmarks/estimator.py                 # a minute or two on a free core
    python benchmarks/estimator.py --tiny          # seconds, for tests; its figures mean nothing

All times are CPU seconds of one thread, which a busy machine does not stretch as much as the clock. Those of `partial_fit` are
the median of all calls, those of one image of 100, those of 10,000 images and of saving and loading of 5; preparing and
distilling are measured once.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from merlin_cl import MerlinClassifier
from merlin_cl.streams import Stream, stream_settings

LIMITS = {
    "partial_fit on 10 examples (ms)": 30,
    "an answer right after one example (ms)": 25,
    "10,000 images, aggregate (s)": 3,
    "10,000 images, marginal (s)": 3,
    "one image, aggregate (ms)": 10,
    "one image, marginal (ms)": 10,
    "save and load (s)": 1,
    "file (MB)": 2,
}
"""What the figures are to stay below."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="few images, few models")
    parser.add_argument("--out", type=Path, help="a file for the figures, as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = measured(options.tiny)
    for name, value in figures.items():
        limit = f"   (at most {LIMITS[name]})" if name in LIMITS else ""
        print(f"{name:<46}{value:>10.3f}{limit}")
    if options.out:
        record = {"command": "python benchmarks/estimator.py", "figures": figures, "limits": LIMITS}
        options.out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def measured(tiny: bool) -> dict[str, float]:
    """Every figure by its name."""
    size, images, repeated = (30, 200, 1) if tiny else (1000, 10_000, 5)
    settings = stream_settings("split-mnist")(images_per_task=size)  # type: ignore[call-arg]
    stream = settings.build(seed=0)
    few = {"models": 3, "base_models": 2} if tiny else {}
    model = MerlinClassifier(**few, expected_tasks=len(stream))
    figures = {"partial_fit on 10 examples (ms)": 1000 * _learn(model, stream)}
    figures["an answer right after one example (ms)"] = 1000 * _answer_while_learning(
        few, settings.build(seed=1), 5 * repeated
    )
    x, y = (torch.cat(parts).numpy() for parts in zip(*(task.test() for task in stream), strict=True))
    many = np.resize(x, (images, *x.shape[1:]))

    for inference in ("aggregate", "marginal"):
        model.set_params(inference=inference)
        model.learner_.resample()
        figures[f"preparing, {inference} (s)"] = _seconds(model.prepare)
        figures[f"{images:,} images, {inference} (s)"] = _median(lambda: model.predict(many), repeated)
        figures[f"one image, {inference} (ms)"] = 1000 * _median(lambda: model.predict(many[:1]), 20 * repeated)
        figures[f"accuracy, {inference} (%)"] = 100 * model.score(x, y)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        figures["save and load (s)"] = _median(lambda: MerlinClassifier.load(model.save(path)), repeated)
        figures["file (MB)"] = path.stat().st_size / 1e6

    start = time.process_time()
    student = model.distil(steps=20 if tiny else 1000)
    figures["distilling (s)"] = time.process_time() - start
    with torch.no_grad():
        answers = student(torch.from_numpy(x).float() / 255).argmax(dim=1).numpy()
        figures[f"{images:,} images, distilled (s)"] = _median(
            lambda: student(torch.from_numpy(many).float() / 255), repeated
        )
    figures["accuracy, distilled (%)"] = 100 * float((model.classes_[answers] == y).mean())
    return figures


def _learn(model: MerlinClassifier, stream: Stream) -> float:
    """Learn the stream ten examples at a time; gives the median CPU seconds of a call."""
    taken = []
    for number, task in enumerate(stream):
        for x, y in task.batches(10):
            images, labels = x.numpy(), y.numpy()
            taken.append(_seconds(lambda: model.partial_fit(images, labels, task=number)))  # noqa: B023
        model.end_task()
    return statistics.median(taken)


def _answer_while_learning(few: dict[str, int], stream: Stream, times: int) -> float:
    """The median CPU seconds of a prediction that follows a `partial_fit` of one example, in the middle of the third task."""
    model, taken = MerlinClassifier(**few, expected_tasks=len(stream)), []
    for number, task in enumerate(list(stream)[:3]):
        ((x, y),) = task.batches(task.train_count)
        images, labels = x.numpy(), y.numpy()
        if number < 2:
            model.partial_fit(images[:100], labels[:100], task=number).end_task()
            continue
        for at in range(times):
            model.partial_fit(images[at : at + 1], labels[at : at + 1], task=number)
            taken.append(_seconds(partial(model.predict, images[at : at + 1])))
    return statistics.median(taken)


def _median(action: Callable[[], Any], times: int) -> float:
    return statistics.median(_seconds(action) for _ in range(times))


def _seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


if __name__ == "__main__":
    main()
